/** Whole games by clicking, against a real server. */
import type { Page } from '@playwright/test'
import { addAi, create, isOver, join, open, playUntil } from './player'
import { expect, test } from './wizard'

/** Everything that the server shows this page of hands, from now on. */
function handsShown(page: Page): string[] {
  const shown: string[] = []
  page.on('websocket', (socket) => {
    socket.on('framereceived', ({ payload }) => {
      const message = JSON.parse(String(payload)) as {
        game?: { observation: { hand: string[]; legal_actions: unknown[] } } | null
      }
      const observation = message.game?.observation
      if (observation) shown.push(...observation.hand, ...observation.legal_actions.map(String))
    })
  })
  return shown
}

test('two people and an AI play a whole game, with a reload in its middle and a spectator', async ({
  browser,
  server,
}) => {
  test.setTimeout(240_000)
  const [ada, ben, eve] = await Promise.all(
    [0, 1, 2].map(async () => (await browser.newContext({ reducedMotion: 'reduce' })).newPage()),
  )
  if (!ada || !ben || !eve) throw new Error('three pages')
  const faults: string[] = []
  for (const page of [ada, ben, eve]) page.on('pageerror', (error) => faults.push(error.message))

  const link = await create(ada, server, 'Ada')
  await expect(ada.getByTestId('start')).toBeDisabled()
  await expect(ada.getByText('2 more players.')).toBeVisible()
  await join(ben, link, 'Ada')
  await expect(ada.getByTestId('seat-1')).toContainText('Ada (2)')
  await expect(ben.getByTestId('start')).toBeDisabled()
  await addAi(ada, 2)
  await ada.getByTestId('length-short').check({ force: true })
  await expect(ben.getByTestId('length-short')).toBeChecked()

  const handsOfEve = handsShown(eve)
  await open(eve, link, 'Eve')
  await eve.getByTestId('watch').click()
  await expect(ada.getByTestId('spectators')).toBeVisible()

  await ada.getByTestId('start').click()
  await expect(eve.getByTestId('watching')).toBeVisible()
  const players = [ada, ben]
  const inRound = (number: number) => async (): Promise<boolean> =>
    (await ada.getByTestId('round-label').innerText()).includes(`${number} of`)
  await playUntil(players, inRound(3))

  const hand = ada.getByTestId('hand').getByRole('button')
  const before = await hand.evaluateAll((cards) => cards.map((card) => card.dataset['testid']))
  await ada.reload()
  await expect(hand).toHaveCount(before.length)
  expect(await hand.evaluateAll((cards) => cards.map((card) => card.dataset['testid']))).toEqual(before)

  await playUntil(players, () => isOver(ada))
  for (const page of [ada, ben, eve]) await expect(page.getByTestId('ranking')).toBeVisible()
  await expect(eve.getByTestId('hand')).toHaveCount(0)
  expect(handsOfEve).toEqual([])
  await expect(ben.getByTestId('again')).toBeDisabled()

  await ada.getByTestId('again').click()
  for (const page of players) await expect(page.getByTestId('lobby-code')).toBeVisible()
  await expect(ben.getByTestId('seat-0')).toContainText('Ada')
  expect(faults).toEqual([])
})

test('whoever leaves a running game is asked once, and an AI plays on', async ({ browser, server }) => {
  const ada = await (await browser.newContext()).newPage()
  const ben = await (await browser.newContext()).newPage()
  const link = await create(ada, server, 'Ada')
  await join(ben, link, 'Ben')
  await addAi(ada, 2)
  await ada.getByTestId('start').click()
  await expect(ada.getByTestId('hand')).toBeVisible()
  await ada.getByTestId('leave').click()
  await ada.getByTestId('leave-confirm').click()
  await expect(ada.getByTestId('create')).toBeVisible()
  await expect(ada).not.toHaveURL(/#\//)
  await expect(ben.getByTestId('seat-0')).toContainText('AI')
  await expect(ben.getByTestId('seat-0')).toContainText('Ada')
})

test('a double click plays once', async ({ browser, server }) => {
  const page = await (await browser.newContext()).newPage()
  await create(page, server, 'Ada')
  await addAi(page, 1)
  await addAi(page, 2)
  const actions: string[] = []
  await page.reload()
  page.on('websocket', (socket) =>
    socket.on('framesent', ({ payload }) => {
      if (String(payload).includes('"action"')) actions.push(String(payload))
    }),
  )
  await page.reload()
  await page.getByTestId('start').click()
  const bid = page.locator('button[data-testid^="bid-"]:not([aria-disabled="true"])').first()
  const trump = page.locator('button[data-testid^="trump-"]').first()
  await bid.or(trump).first().dblclick()
  await expect.poll(() => actions.length).toBe(1)
  await expect(page.getByTestId('note')).toHaveCount(0)
})

test('a second window takes the seat, and gives it back', async ({ browser, server }) => {
  const context = await browser.newContext()
  const first = await context.newPage()
  await create(first, server, 'Ada')
  const [second] = await Promise.all([
    context.waitForEvent('page'),
    first.evaluate(() => void window.open(location.href)),
  ])
  await expect(second.getByTestId('seat-0')).toContainText('Ada')
  await expect(first.getByTestId('connection-taken_over')).toBeVisible()
  await first.getByTestId('reconnect').click()
  await expect(first.getByTestId('seat-0')).toContainText('Ada')
  await expect(second.getByTestId('connection-taken_over')).toBeVisible()
})

test('on a phone held upright a round is played with the thumb', async ({ browser, server }) => {
  const phone = await browser.newContext({
    viewport: { width: 390, height: 844 },
    hasTouch: true,
    isMobile: true,
    reducedMotion: 'reduce',
  })
  const page = await phone.newPage()
  await create(page, server, 'Ada')
  await addAi(page, 1)
  await addAi(page, 2)
  await page.getByTestId('start').click()
  await playUntil([page], async () => (await page.getByTestId('round-label').innerText()).includes('4 of'), 2)
  await expect(page.getByTestId('last-round')).toHaveText(/^You bid \d+ and won \d+: .+ points$/)
  const width = await page.evaluate(() => document.documentElement.scrollWidth)
  expect(width).toBeLessThanOrEqual(390)
})

test('rounds are played by keys alone, and the focus is never lost', async ({ browser, server }) => {
  const page = await (await browser.newContext({ reducedMotion: 'reduce' })).newPage()
  await create(page, server, 'Ada')
  await addAi(page, 1)
  await addAi(page, 2)
  await page.getByTestId('start').press('Enter')
  const round = page.getByTestId('round-label')
  const prompt = page.getByTestId('prompt')
  const focused = page.locator(':focus')
  await expect(round).toContainText('1 of')
  await page.getByTestId('hand').getByRole('button').first().focus()
  while (!(await round.innerText()).includes('4 of')) {
    await expect(prompt).toHaveText(/^Your turn/)
    const asked = await prompt.innerText()
    if (asked.endsWith('bid')) await page.keyboard.press('0')
    else if (asked.endsWith('trump')) {
      await page.getByTestId('trump-red').press('Enter')
      await expect(page.getByTestId('trump-red')).toHaveCount(0)
    } else {
      const card = page.locator('[data-testid="hand"] button.allowed').first()
      const name = (await card.getAttribute('data-testid')) ?? ''
      await page.keyboard.press('Home')
      while ((await focused.getAttribute('data-testid')) !== name) await page.keyboard.press('ArrowRight')
      const played = await card.elementHandle()
      await page.keyboard.press('Enter')
      await expect.poll(() => played?.evaluate((element) => element.isConnected)).toBe(false)
    }
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.closest('[data-testid="hand"]') !== null))
      .toBe(true)
  }
})

test('a mistyped code is told beside the field', async ({ page, server }) => {
  await open(page, server, 'Ada')
  await page.getByTestId('join-code').fill('zzz zz2')
  await page.getByTestId('join').click()
  await expect(page.getByTestId('error')).toHaveText('There is no table with this code.')
})

test('strangers meet by quick play', async ({ browser, server }) => {
  const ada = await (await browser.newContext()).newPage()
  const ben = await (await browser.newContext()).newPage()
  await open(ada, server, 'Ada')
  await ada.getByTestId('quick-play').click()
  const code = await ada.getByTestId('lobby-code').innerText()
  await open(ben, server, 'Ben')
  await ben.getByTestId('quick-play').click()
  await expect(ben.getByTestId('lobby-code')).toHaveText(code)
})

test('the host asks before somebody is removed, who is told', async ({ browser, server }) => {
  const ada = await (await browser.newContext()).newPage()
  const ben = await (await browser.newContext()).newPage()
  await join(ben, await create(ada, server, 'Ada'), 'Ben')
  await ada.getByTestId('remove-1').click()
  await ada.getByTestId('confirm-no').click()
  await expect(ada.getByTestId('seat-1')).toContainText('Ben')
  await ada.getByTestId('remove-1').click()
  await ada.getByTestId('confirm-yes').click()
  await expect(ben.getByTestId('page-error')).toContainText('removed')
  await expect(ben.getByTestId('create')).toBeVisible()
  await expect(ada.getByTestId('remove-1')).toHaveCount(0)
})
