/** What a person does at the page, by its handles. */
import { expect, type Page } from '@playwright/test'

const BIDS = 'button[data-testid^="bid-"]:not([aria-disabled="true"])'
const TRUMPS = 'button[data-testid^="trump-"]:not([aria-disabled="true"])'
const CARDS = '[data-testid="hand"] button.allowed'
/** Whatever a person may do now, or the end of the game. */
const ANYTHING = [BIDS, TRUMPS, CARDS, '[data-testid="ranking"]'].join(', ')
/** In a fan a card's middle may lie under its neighbour; the index in its upper corner never does. */
const INDEX = 'text.index >> nth=0'

export async function open(page: Page, url: string, name: string): Promise<void> {
  await page.goto(url)
  await page.getByTestId('name-input').fill(name)
}

/** Opens a table and gives its link. */
export async function create(page: Page, url: string, name: string): Promise<string> {
  await open(page, url, name)
  await page.getByTestId('create').click()
  const code = await page.getByTestId('lobby-code').innerText()
  await expect(page).toHaveURL(new RegExp(`#/${code}$`))
  return page.url()
}

export async function join(page: Page, link: string, name: string): Promise<void> {
  await open(page, link, name)
  await page.getByTestId('join').click()
  await expect(page.getByTestId('lobby-code')).toBeVisible()
}

export async function addAi(page: Page, seat: number): Promise<void> {
  await page.getByTestId('add-ai').click()
  await expect(page.getByTestId(`seat-${seat}`)).toContainText('AI')
}

export async function isOver(page: Page): Promise<boolean> {
  return page.getByTestId('ranking').isVisible()
}

/** Makes one move, if it is this player's turn. `taps`: how often a card is touched until it is played. */
export async function move(page: Page, taps = 1): Promise<boolean> {
  if ((await page.locator(TRUMPS).count()) > 0) {
    await page.locator(TRUMPS).first().click()
    await expect(page.locator(TRUMPS)).toHaveCount(0)
    return true
  }
  if ((await page.locator(BIDS).count()) > 0) {
    await page.locator(BIDS).first().click()
    await expect(page.locator(BIDS)).toHaveCount(0)
    return true
  }
  const card = page.locator(CARDS).last()
  if ((await card.count()) === 0) return false
  const name = await card.getAttribute('data-testid')
  if (name === null) throw new Error('a card without a name')
  const played = await page.getByTestId('hand').getByTestId(name).elementHandle()
  // A card under the pointer rises over its neighbour.
  await page.mouse.move(0, 0)
  for (let tap = 0; tap < taps; tap += 1) await page.getByTestId(name).locator(INDEX).click()
  // The element, not the name: the next round may deal the same card to the same hand.
  await expect.poll(() => played?.evaluate((card) => card.isConnected)).toBe(false)
  return true
}

/** Plays for everybody until `done` or the end of the game. */
export async function playUntil(pages: Page[], done: () => Promise<boolean>, taps = 1): Promise<void> {
  while (!(await done())) {
    let moved = false
    for (const page of pages) moved = (await move(page, taps)) || moved
    if (!moved) await somebodyCan(pages)
  }
}

async function somebodyCan(pages: Page[]): Promise<void> {
  const possible = async (): Promise<boolean> => {
    const counts = await Promise.all(pages.map((page) => page.locator(ANYTHING).count()))
    return counts.some((count) => count > 0)
  }
  await expect.poll(possible, { intervals: [20, 50, 100], timeout: 20_000 }).toBe(true)
}
