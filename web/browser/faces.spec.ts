/** The faces of the connection, and the page under the strictest policy. */
import type { Page } from '@playwright/test'
import { expect, Gateway, golden, test } from './page'

const STATES = [
  'state_empty',
  'state_waiting',
  'state_bidding',
  'state_playing',
  'state_spectator',
  'state_finished',
]

/** Time passes as the test says: a busy machine must not use up what a sentence waits for. */
async function stopClock(page: Page): Promise<void> {
  await page.clock.install({ time: 0 })
  await page.clock.pauseAt(1_000)
}

for (const state of STATES) {
  for (const width of [1440, 390]) {
    test(`${state} at ${width} pixels needs nothing inline and nothing sideways`, async ({
      page,
      address,
    }) => {
      const faults: string[] = []
      page.on('console', (message) => {
        if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text())
      })
      page.on('pageerror', (error) => faults.push(error.message))
      await page.setViewportSize({ width, height: 844 })
      await Gateway.behind(page, state)
      await page.goto(address)
      await expect(page.locator('main')).toBeVisible()
      await expect(page.getByTestId('connection-connecting')).toHaveCount(0)
      const scrolled = await page.evaluate(() => document.documentElement.scrollWidth)
      expect(scrolled).toBeLessThanOrEqual(width)
      expect(faults).toEqual([])
    })
  }
}

test('says what is wrong after ten seconds without a state', async ({ page, address }) => {
  await stopClock(page)
  const gateway = await Gateway.behind(page, null)
  await page.goto(address)
  await expect(page.getByTestId('connection-connecting')).toBeVisible()
  await expect.poll(() => gateway.tokens.length).toBe(1)
  await page.clock.runFor(9_000)
  await expect(page.getByTestId('connection-connecting')).toBeVisible()
  await page.clock.runFor(1_500)
  await expect(page.getByTestId('connection-silent')).toBeVisible()
  gateway.shows = 'state_empty'
  await page.clock.runFor(5_000)
  await expect(page.getByTestId('name-input')).toBeVisible()
})

test('keeps the table, greyed, and comes back by itself', async ({ page, address }) => {
  const gateway = await Gateway.behind(page, 'state_playing')
  await page.goto(address)
  await expect(page.getByTestId('hand')).toBeVisible()
  gateway.turnsAway = 1012
  await gateway.close(1012)
  await expect(page.getByTestId('reconnecting')).toBeVisible()
  await expect(page.getByTestId('hand')).toBeVisible()
  gateway.turnsAway = null
  await expect(page.getByTestId('reconnecting')).toHaveCount(0)
  expect(gateway.tokens).toEqual([null, JSON.parse(golden('welcome')).token])
})

test('comes back with its token after a reload', async ({ page, address }) => {
  const gateway = await Gateway.behind(page, 'state_playing')
  await page.goto(address)
  await expect(page.getByTestId('hand')).toBeVisible()
  await page.reload()
  await expect(page.getByTestId('hand')).toBeVisible()
  expect(gateway.tokens[1]).toBe(JSON.parse(golden('welcome')).token)
})

test('says that the server is full, and tries again slowly', async ({ page, address }) => {
  await stopClock(page)
  const gateway = await Gateway.behind(page, 'state_empty')
  gateway.turnsAway = 1013
  await page.goto(address)
  await expect(page.getByTestId('connection-full')).toContainText(/Next try in (1[5-9]|2[0-3]) seconds/)
  gateway.turnsAway = null
  await page.clock.runFor(14_000)
  expect(gateway.tokens).toEqual([])
  await page.clock.runFor(9_000)
  await expect(page.getByTestId('name-input')).toBeVisible()
})

test('stops when the game is opened in another window', async ({ page, address }) => {
  const gateway = await Gateway.behind(page, 'state_playing')
  await page.goto(address)
  await expect(page.getByTestId('hand')).toBeVisible()
  await gateway.close(4000)
  await expect(page.getByTestId('connection-taken_over')).toBeVisible()
  await page.getByTestId('reconnect').click()
  await expect(page.getByTestId('hand')).toBeVisible()
})

test('shows which move is on its way before the server has answered', async ({ page, address }) => {
  await stopClock(page)
  const gateway = await Gateway.behind(page, 'state_bidding')
  await page.goto(address)
  await page.getByTestId('bid-1').click()
  await expect(page.getByTestId('prompt')).toHaveText('Playing …')
  await expect(page.getByTestId('bid-1')).toHaveClass(/meant/)
  await expect(page.getByTestId('bid-0')).toHaveAttribute('aria-disabled', 'true')

  const state = JSON.parse(golden('state_playing'))
  const { game } = state
  const [card] = game.observation.hand
  game.observation = { ...game.observation, to_act: game.you, legal_actions: [{ type: 'play', card }] }
  gateway.send(JSON.stringify(state))
  await page.getByTestId('hand').getByTestId(`card-${card}`).click()
  await expect(page.getByTestId('prompt')).toHaveText('Playing …')
  await expect(page.getByTestId('hand').getByTestId(`card-${card}`)).toHaveClass(/sent/)
  expect(gateway.asked).toEqual(['action', 'action'])
})

test('explains the game at the door, and at the table with its house rules', async ({ page, address }) => {
  const gateway = await Gateway.behind(page, 'state_empty')
  await page.goto(address)
  await page.getByTestId('help-open').click()
  const help = page.getByTestId('help')
  await expect(help).toContainText('Win exactly that many')
  await expect(help).not.toContainText('At this table')
  await page.keyboard.press('Escape')
  await expect(page.getByTestId('help-open')).toBeFocused()

  gateway.send(golden('state_playing'))
  await expect(page.getByTestId('hand')).toBeVisible()
  await page.keyboard.press('h')
  await expect(help).toContainText('somebody must miss')
  await page.keyboard.press('Escape')
  await page.getByTestId('settings').click()
  await page.getByTestId('settings-help').click()
  await expect(help).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(help).toHaveCount(0)
  await expect(page.getByTestId('settings')).toBeFocused()
})

test('shows a table on the move', async ({ page, address }) => {
  const gateway = await Gateway.behind(page, 'state_playing')
  await page.goto(address)
  await expect(page.getByTestId('hand')).toBeVisible()
  const status = JSON.parse(golden('server_status'))
  gateway.send(JSON.stringify({ ...status, reason: 'moving' }))
  await expect(page.getByTestId('moving')).toBeVisible()
  gateway.send(JSON.stringify(status))
  await expect(page.getByTestId('moving')).toHaveCount(0)
})

test('an invitation prefills the code, and asks whoever sits elsewhere', async ({ page, address }) => {
  const gateway = await Gateway.behind(page, 'state_empty')
  await page.goto(`${address}#/XYZ234`)
  await page.getByTestId('name-input').fill('Ada')
  await expect(page.getByTestId('join')).toBeEnabled()
  gateway.shows = 'state_waiting'
  await page.reload()
  await expect(page.getByTestId('confirm')).toContainText('XYZ234')
  await page.getByTestId('confirm-no').click()
  await expect(page).toHaveURL(/#\/ABCD23$/)
})
