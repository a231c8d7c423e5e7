/** What the server would refuse can't be pressed, says why, and comes back by itself. */
import type { Locator, Page } from '@playwright/test'
import { expect, Gateway, golden, test } from './page'

const ME = '020202020202'

/** What everybody is told, and the sentence that the page makes of it. */
const REASONS = [
  ['overloaded', { level: 'overloaded' }, 'The server is very busy: no new games right now.'],
  ['full', { level: 'normal' }, 'All tables are taken right now.'],
  ['redis_away', { level: 'normal' }, 'New tables are not possible right now.'],
] as const

const SIZES = [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
]

async function saysWhyNot(page: Page, button: Locator, why: string): Promise<void> {
  await expect(button).toHaveAttribute('aria-disabled', 'true')
  const reason = page.locator(`[id="${await button.getAttribute('aria-describedby')}"]`)
  await expect(reason).toBeVisible()
  await expect(reason).toContainText(`${why} Running games go on. Try again in 2 seconds.`)
}

for (const size of SIZES) {
  for (const [reason, more, why] of REASONS) {
    const refusing = { ...more, accepting_games: false, reason, retry_after_ms: 2_000 }

    test(`${reason} at ${size.width} pixels: no table can be opened, but others' can be joined`, async ({
      page,
      address,
    }) => {
      await page.setViewportSize(size)
      const gateway = await Gateway.behind(page, 'state_empty')
      gateway.status = refusing
      await page.goto(address)
      await page.getByTestId('name-input').fill('Ada')
      for (const handle of ['create', 'quick-play']) {
        const button = page.getByTestId(handle)
        await saysWhyNot(page, button, why)
        await button.click({ force: true })
      }
      expect(gateway.asked).toEqual([])
      await page.getByTestId('join-code').fill('ABCD23')
      await page.getByTestId('join').click()
      await expect.poll(() => gateway.asked).toEqual(['join_lobby'])

      gateway.send(golden('server_status'))
      await expect(page.getByTestId('create')).not.toHaveAttribute('aria-disabled', 'true')
    })

    test(`${reason} at ${size.width} pixels: no game can be started, but the table be changed`, async ({
      page,
      address,
    }) => {
      await page.setViewportSize(size)
      const gateway = await Gateway.behind(page, 'state_waiting')
      gateway.status = refusing
      gateway.lobby = { host_id: ME, accepting_games: false }
      await page.goto(address)
      const start = page.getByTestId('start')
      await saysWhyNot(page, start, why)
      await start.click({ force: true })
      expect(gateway.asked).toEqual([])
      await page.getByTestId('add-ai').click()
      await expect.poll(() => gateway.asked).toEqual(['add_ai'])
    })
  }
}
