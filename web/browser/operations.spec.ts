/** The operators' page, by the real program and by gateways that say what no healthy fleet does. */
import type { Page } from '@playwright/test'
import { expect, node, test, TOKEN } from './operations'

/** The ids as they stand, top down. */
const ids = (page: Page): Promise<string[]> =>
  page.locator('tbody tr').evaluateAll((rows) => rows.map((row) => row.getAttribute('data-testid') ?? ''))

test('every node appears, and one that is drained leaves greyed and with the reason', async ({
  page,
  wizard,
}) => {
  await expect(async () => {
    await page.goto(wizard.address)
  }).toPass()
  for (const id of ['test-gateway', 'test-game-1', 'test-game-2', 'test-ai'])
    await expect(page.getByTestId(`node-${id}`)).toHaveAttribute('data-state', 'ready')
  await expect(page.getByTestId('node-test-game-1')).toContainText('up')
  await expect(page.getByTestId('troubled')).toHaveText('All is well.')

  await page.getByTestId('drain-test-game-2').click()
  await page.getByTestId('operator-token').fill('guessed')
  await page.getByTestId('drain-yes').click()
  await expect(page.getByTestId('drain-refusal')).toContainText('not the operators’ token')
  await page.getByTestId('operator-token').fill(TOKEN)
  await page.getByTestId('drain-yes').click()
  const left = page.getByTestId('node-test-game-2')
  await expect(left).toHaveAttribute('data-state', 'left')
  await expect(left).toContainText('said goodbye')
  await expect(page.getByTestId('timeline').locator('li').first()).toContainText('left: said goodbye')
  await expect.poll(async () => (await ids(page)).at(-1)).toBe('node-test-game-2')

  // Whoever opens the page later sees it, too.
  await page.reload()
  await expect(left).toHaveAttribute('data-state', 'left')

  await wizard.kill()
  await expect(page.getByTestId('lost')).toBeVisible()
  await expect(page.getByTestId('node-test-game-1')).toBeVisible()
})

test('what is wrong comes first, with the reason', async ({ page, gateway }) => {
  gateway.nodes = [
    node('fine'),
    node('unreachable', { link: 'down' }),
    node('odd', { verified: false, why: '10.9.9.9:7000: connection refused' }),
    node('busy', { load: 'busy' }),
    node('silent', { last_seen: Date.now() - 12_000 }),
    node('front', { role: 'gateway', link: null }),
  ]
  gateway.keepBeating(['silent'])
  await page.goto(gateway.address)
  const row = (id: string) => page.getByTestId(`node-${id}`)
  await expect(row('unreachable')).toContainText('no link from this gateway')
  await expect(row('odd')).toContainText('unverified: 10.9.9.9:7000: connection refused')
  await expect(row('silent')).toContainText(/no heartbeat for \d+ s/)
  expect(await ids(page)).toEqual(
    ['silent', 'unreachable', 'busy', 'odd', 'front', 'fine'].map((id) => `node-${id}`),
  )
  await expect(page.getByTestId('troubled')).toContainText('4')
  await expect(page).toHaveTitle('(4) Wizard operations')

  await page.getByRole('button', { name: 'Players' }).click()
  gateway.nodes = gateway.nodes.map((one) => (one.id === 'fine' ? { ...one, players: 9 } : one))
  gateway.say('changed', gateway.nodes[0])
  await expect.poll(async () => (await ids(page))[0]).toBe('node-fine')
})

test('shows the last minutes as soon as it is opened', async ({ page, gateway }) => {
  gateway.nodes = [node('one', { players: 3 })]
  gateway.trails = {
    one: [
      [1, 0],
      [2, 1],
      [3, 1],
    ],
  }
  await page.goto(gateway.address)
  const line = page.getByTestId('node-one').locator('path.players')
  await expect
    .poll(async () => (await line.getAttribute('d'))?.match(/[ML]/g)?.length)
    .toBeGreaterThanOrEqual(3)
})

test('ages tick without news', async ({ page, gateway }) => {
  gateway.nodes = [node('one')]
  await page.goto(gateway.address)
  const row = page.getByTestId('node-one')
  const age = async (): Promise<number> => Number(/(\d+) s ago/.exec((await row.textContent()) ?? '')?.[1])
  const first = await age()
  await expect.poll(age).toBeGreaterThanOrEqual(first + 2)
})

test('says when the connection is lost, and comes back by itself', async ({ page, gateway }) => {
  gateway.nodes = [node('one'), node('two')]
  await page.goto(gateway.address)
  await expect(page.getByTestId('node-one')).toBeVisible()
  gateway.open = false
  gateway.drop()
  await expect(page.getByTestId('lost')).toContainText('Connection lost')
  await expect(page.getByTestId('node-one')).toBeVisible()
  await expect(page.getByTestId('drain-one')).toBeDisabled()
  gateway.nodes = [node('two')]
  gateway.open = true
  await expect(page.getByTestId('lost')).toHaveCount(0)
  await expect(page.getByTestId('node-one')).toHaveCount(0)
})

test('a stream that falls silent is opened anew', async ({ page, gateway }) => {
  gateway.nodes = [node('one')]
  await page.goto(gateway.address)
  await expect(page.getByTestId('node-one')).toBeVisible()
  gateway.open = false
  await expect(page.getByTestId('lost')).toBeVisible()
})

test('says when the registry is away, and calls no heartbeat late then', async ({ page, gateway }) => {
  gateway.nodes = [node('one', { last_seen: Date.now() - 60_000 })]
  await page.goto(gateway.address)
  await expect(page.getByTestId('node-one')).toContainText('no heartbeat')
  gateway.beat({ current: false, as_of: Date.now() - 34_000 })
  await expect(page.getByTestId('registry-away')).toContainText('for 34 s')
  await expect(page.getByTestId('registry-away')).toContainText('No linked node has anything unsaved')
  await expect(page.getByTestId('troubled')).toHaveText('')
  await expect(page.getByTestId('drain-one')).toBeDisabled()
  await expect(page.getByTestId('node-one')).not.toContainText('no heartbeat')
})

test('says what goes on unsaved, and counts no lobby twice', async ({ page, gateway }) => {
  const counts = { players: 8, lobbies: 4, active_games: 4 }
  gateway.nodes = [
    node('goes-on', { ...counts, uncommitted: 3 }),
    node('killed', { ...counts, link: 'down', dead: true }),
    node('cut-off', { ...counts, last_seen: Date.now() - 40_000, suspended: 4, cut_off: true }),
  ]
  await page.goto(gateway.address)
  const row = (id: string) => page.getByTestId(`node-${id}`)
  await expect(row('killed')).toContainText('its process is gone')
  await expect(row('killed').locator('td.state')).toHaveText('dead')
  await expect(page.getByTestId('drain-killed')).toBeDisabled()
  await expect(row('cut-off').locator('td.state')).toHaveText('cut off')
  await expect(row('cut-off')).toContainText('it alone can’t save')
  await expect(row('cut-off')).toContainText('it lives, and can’t reach the registry')
  await expect(row('cut-off')).toHaveClass(/bad/)
  const totals = page.locator('dl')
  await expect(totals).toContainText('4 lobbies')
  await expect(totals).toContainText('3 need a look')
  await expect(page.getByTestId('total-uncommitted')).toHaveText('3 unsaved')
  gateway.beat({ current: false, as_of: Date.now() - 5_000 })
  await expect(page.getByTestId('registry-away')).toContainText('3 lobbies go on unsaved')
  gateway.nodes = [node('goes-on', { ...counts, load: 'busy' })]
  gateway.drop()
  await expect(totals).toContainText('1 needs a look')
})

test('shows what a node handed over before it left, also to whoever comes later', async ({
  page,
  gateway,
}) => {
  const last_handed_over = { at: Date.now() - 1_000, why: 'drain', lobbies: 34, longest_ms: 200 }
  gateway.nodes = [node('stays'), node('leaves', { lobbies: 34 })]
  await page.goto(gateway.address)
  await expect(page.getByTestId('node-leaves')).toBeVisible()
  const left = node('leaves', { state: 'draining', last_handed_over })
  gateway.nodes = [node('stays')]
  gateway.past = [{ at: Date.now(), event: 'left', node: left, reason: 'goodbye' }]
  gateway.say('left', { ...left, reason: 'goodbye' })
  const story = 'handed over 34 lobbies, each within 200 ms: this node was told to leave'
  const newest = page.getByTestId('timeline').locator('li').first()
  await expect(newest).toContainText(story)
  await page.reload()
  await expect(newest).toContainText(story)
  await expect(page.getByTestId('node-leaves')).toContainText('handed over 34 lobbies')
})

test('waits with a face, and says how to begin when nobody is there', async ({ page, gateway }) => {
  gateway.open = false
  await page.goto(gateway.address)
  await expect(page.getByTestId('connecting')).toContainText('Connecting')
  await expect(page.getByTestId('connecting')).toContainText('does not answer')
  gateway.open = true
  await expect(page.getByTestId('empty')).toContainText('No process is there yet')
  await expect(page.getByTestId('troubled')).toHaveText('')
})

test('a drain says what it means, and why it was refused', async ({ page, gateway }) => {
  gateway.nodes = [node('last', { lobbies: 3 })]
  gateway.drainStatus = 403
  await page.goto(gateway.address)
  await page.getByTestId('drain-last').click()
  await expect(page.getByTestId('drain')).not.toContainText('Players notice nothing')
  await expect(page.getByTestId('drain')).toContainText('last game node')
  await page.getByTestId('operator-token').fill('x')
  await page.getByTestId('drain-yes').click()
  await expect(page.getByTestId('drain-refusal')).toContainText('no OPERATOR_TOKEN')
  gateway.drainStatus = 202
  await page.getByTestId('drain-yes').click()
  await expect(page.getByTestId('said')).toHaveText('last was asked to leave.')
  expect(gateway.drains.at(-1)).toEqual({ id: 'last', token: 'Bearer x' })
  // Kept for the next one, in this page alone.
  await page.getByTestId('drain-last').click()
  await expect(page.getByTestId('operator-token')).toHaveValue('x')
  expect(await page.evaluate(() => [...Object.keys(localStorage), ...Object.keys(sessionStorage)])).toEqual(
    [],
  )
})

for (const width of [1440, 390]) {
  test(`at ${width} pixels nothing is inline and nothing goes sideways`, async ({ page, gateway }) => {
    const faults: string[] = []
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') faults.push(message.text())
    })
    page.on('pageerror', (error) => faults.push(error.message))
    gateway.nodes = [
      node('a-game-node-with-quite-a-long-name.of-some-cluster', {
        verified: false,
        why: 'game-7.games.wizard.svc.cluster.local:7000: connection refused',
        players: 1234,
        lobbies: 400,
        active_games: 399,
      }),
      node('front', { role: 'gateway', link: null, players: 12_345 }),
    ]
    await page.setViewportSize({ width, height: 844 })
    await page.goto(gateway.address)
    const row = page.getByTestId('node-front')
    await expect(row).toBeVisible()
    // The button lies on nothing that must be read.
    const [button, players] = [row.getByRole('button'), row.locator('td[data-label="Players"]')]
    const [over, under] = [await button.boundingBox(), await players.boundingBox()]
    const apart = over && under && (over.x >= under.x + under.width || over.y + over.height <= under.y)
    expect(apart).toBe(true)
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width)
    expect(faults).toEqual([])
    // What becomes of a node is seen from wherever it was taken out.
    await page.getByTestId('drain-front').click()
    await page.getByTestId('operator-token').fill('x')
    await page.getByTestId('drain-yes').click()
    await expect(page.getByTestId('said')).toBeInViewport()
  })
}
