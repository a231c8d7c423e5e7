/** What a player must be able to hit, on every screen that a hand of twenty is played on. */
import type { Page } from '@playwright/test'
import { expect, Gateway, golden, test } from './page'

const SIZES = [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
  { width: 360, height: 640 },
  { width: 844, height: 390 },
]

const HAND = [
  ...['B1', 'B4', 'B5', 'B9', 'B12', 'G2', 'G3', 'G10', 'G13', 'R1', 'R6', 'R7', 'R11'],
  ...['Y3', 'Y4', 'Y10', 'Y12', 'W1', 'W4', 'J3'],
]

/** The golden bidding, as the player to act sees it. */
async function show(page: Page, address: string, more: object): Promise<void> {
  const gateway = await Gateway.behind(page, 'state_empty')
  await page.goto(address)
  await expect(page.getByTestId('name-input')).toBeVisible()
  const state = JSON.parse(golden('state_bidding'))
  const { observation } = state.game
  state.game.observation = { ...observation, hand: HAND, to_act: state.game.you, forbidden: [], ...more }
  gateway.send(JSON.stringify(state))
  await expect(page.getByTestId('hand').getByRole('button')).toHaveCount(HAND.length)
}

for (const size of SIZES) {
  test.describe(`at ${size.width} by ${size.height}`, () => {
    test.use({ viewport: size, contextOptions: { reducedMotion: 'reduce' } })

    test('every bid of the last round can be hit', async ({ page, address }) => {
      const bids = Array.from({ length: HAND.length + 1 }, (_, value) => value)
      await show(page, address, {
        cards: HAND.length,
        legal_actions: bids.map((value) => ({ type: 'bid', value })),
      })
      // A trial clicks nothing, and fails if something else lies over the middle.
      for (const value of bids) await page.getByTestId(`bid-${value}`).click({ trial: true })
    })

    test('every trump can be hit', async ({ page, address }) => {
      const suits = ['blue', 'green', 'red', 'yellow']
      await show(page, address, {
        phase: 'choose_trump',
        legal_actions: suits.map((suit) => ({ type: 'choose_trump', suit })),
      })
      for (const suit of suits) await page.getByTestId(`trump-${suit}`).click({ trial: true })
    })
  })
}
