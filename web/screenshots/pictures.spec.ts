/** The pictures of the book, of the running program. `make screenshots` takes them. */
import type { Browser, Page } from '@playwright/test'
import { expect, test } from '@playwright/test'
import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { addAi, create, isOver, join, playUntil } from '../browser/player'
import { freePort } from '../browser/operations'
import { small } from './png'

const PROGRAM = process.env['WIZARD'] ?? new URL('../../target/release/wizard', import.meta.url).pathname
const IMAGES = new URL('../../docs/images/', import.meta.url).pathname

test('pictures', async ({ browser }) => {
  test.setTimeout(180_000)
  const operations = `127.0.0.1:${await freePort()}`
  const child = spawn(PROGRAM, [], {
    env: {
      PATH: process.env['PATH'],
      LISTEN_ADDR: '127.0.0.1:0',
      OPS_ADDR: operations,
      NODE_ID: 'wizard',
      AI_MOVE_DELAY: '0',
      TRICK_PAUSE: '0',
      MAX_CONNECTIONS_PER_IP: '0',
      // However busy the machine is that takes the pictures.
      LOAD_FORCE_LEVEL: 'normal',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const url = await new Promise<string>((resolve, reject) => {
      createInterface(child.stdout).on('line', (line) => {
        const address = /https?:\/\/\S+/.exec(line)?.[0]
        if (address) resolve(address)
      })
      child.once('exit', (code) => reject(new Error(`${PROGRAM} ended with ${code}`)))
    })
    await table(browser, url)
    await phone(browser, url)
    await fleet(browser, `http://${operations}/`)
  } finally {
    child.kill('SIGTERM')
  }
})

async function table(browser: Browser, url: string): Promise<void> {
  const ada = await person(browser, 1200, 780)
  const ben = await person(browser, 1200, 780)
  const link = await create(ada, url, 'Ada')
  await join(ben, link, 'Ben')
  await addAi(ada, 2)
  await addAi(ada, 3)
  await ada.getByTestId('length-short').check({ force: true })
  await take(ada, 'lobby')
  await ada.getByTestId('start').click()
  const inRound = (page: Page, number: number) => async (): Promise<boolean> =>
    (await page.getByTestId('round-label').innerText()).includes(`${number} of`)
  const players = [ada, ben]
  await playUntil(players, inRound(ada, 4))
  // Until cards lie on the table, and it is Ada's turn to play one.
  const mayPlay = async (): Promise<boolean> =>
    (await ada.locator('[data-testid="hand"] button.allowed').count()) > 0
  await playUntil(players, mayPlay)
  await take(ada, 'table')
  await playUntil(players, () => isOver(ada))
  await take(ada, 'ranking')
}

async function phone(browser: Browser, url: string): Promise<void> {
  const page = await person(browser, 390, 760)
  await create(page, url, 'Ada')
  await addAi(page, 1)
  await addAi(page, 2)
  await page.getByTestId('start').click()
  const mayPlay = async (): Promise<boolean> =>
    (await page.locator('[data-testid="hand"] button.allowed').count()) > 0
  const inRound = async (): Promise<boolean> =>
    (await page.getByTestId('round-label').innerText()).includes('5 of')
  await playUntil([page], inRound, 2)
  await playUntil([page], mayPlay, 2)
  await take(page, 'phone')
}

async function fleet(browser: Browser, url: string): Promise<void> {
  const page = await person(browser, 1320, 400)
  await page.goto(url)
  await expect(page.getByTestId('node-wizard-ai')).toHaveAttribute('data-state', 'ready')
  await take(page, 'operations')
}

async function person(browser: Browser, width: number, height: number): Promise<Page> {
  const context = await browser.newContext({
    viewport: { width, height },
    reducedMotion: 'reduce',
    ...(width < 500 ? { hasTouch: true, isMobile: true } : {}),
  })
  return context.newPage()
}

async function take(page: Page, name: string): Promise<void> {
  await page.mouse.move(0, 0)
  const png = await page.screenshot({ animations: 'disabled' })
  await writeFile(`${IMAGES}${name}.png`, small(png))
}
