/** A real server for the tests, on ports of its own, with all pauses at zero. One a test worker. */
import { test as base } from '@playwright/test'
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

const PROGRAM = process.env['WIZARD'] ?? new URL('../../target/debug/wizard', import.meta.url).pathname
/** More than the program gives itself to become ready. */
const START_CEILING_MS = 40_000

type Server = { url: string; stop: () => Promise<void> }

async function start(): Promise<Server> {
  const child = spawn(PROGRAM, [], {
    env: {
      PATH: process.env['PATH'],
      LISTEN_ADDR: '127.0.0.1:0',
      OPS_ADDR: '127.0.0.1:0',
      AI_MOVE_DELAY: '0',
      TRICK_PAUSE: '0',
      RECONNECT_WINDOW: '0.2',
      MAX_CONNECTIONS_PER_IP: '0',
      LOBBY_CREATE_RATE: '0',
      // Whatever else this machine does.
      LOAD_FORCE_LEVEL: 'normal',
      LOG_LEVEL: 'warn',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const ready = new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).on('line', (line) => {
      const url = /https?:\/\/\S+/.exec(line)?.[0]
      if (url) resolve(url)
    })
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`${PROGRAM} ended with ${code} before it was ready`)))
    setTimeout(() => reject(new Error(`${PROGRAM} was not ready in time`)), START_CEILING_MS).unref()
  })
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM')
    await ended
  }
  try {
    return { url: await ready, stop }
  } catch (error) {
    child.kill('SIGKILL')
    throw error
  }
}

export const test = base.extend<object, { server: string }>({
  server: [
    async ({}, use) => {
      const server = await start()
      await use(server.url)
      await server.stop()
    },
    { scope: 'worker', timeout: START_CEILING_MS + 20_000 },
  ],
})
export { expect } from '@playwright/test'
