/**
 * The built page as a careful operator serves it: under a path prefix, and with a content security policy
 * that allows nothing inline. The server's side of the socket is the test's.
 */
import { test as base, type Page, type WebSocketRoute } from '@playwright/test'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname } from 'node:path'

const BUILT = new URL('../dist/', import.meta.url)
const GOLDEN = new URL('../../protocol/golden/server/', import.meta.url)
const PREFIX = '/games/wizard/'
const TYPES: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
}
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self' ws:; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

export const golden = (name: string): string => readFileSync(new URL(`${name}.json`, GOLDEN), 'utf8')

export const test = base.extend<object, { address: string }>({
  address: [
    async ({}, use) => {
      const server = createServer((request, response) => {
        const path = new URL(request.url ?? '/', 'http://page').pathname
        const file = path.slice(PREFIX.length) || 'index.html'
        if (!path.startsWith(PREFIX) || file.includes('..')) return void response.writeHead(404).end()
        try {
          const body = readFileSync(new URL(file, BUILT))
          const type = TYPES[extname(file)] ?? 'application/octet-stream'
          response.writeHead(200, { 'content-type': type, 'content-security-policy': POLICY }).end(body)
        } catch {
          response.writeHead(404).end()
        }
      })
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}${PREFIX}`)
      await new Promise((resolve) => server.close(resolve))
    },
    { scope: 'worker' },
  ],
})
export { expect } from '@playwright/test'

/** The other end of the page's socket. */
export class Gateway {
  /** The golden state that a hello is answered with; null: silence. */
  shows: string | null
  /** With this code every new socket is closed at once. */
  turnsAway: number | null = null
  /** What is different about the golden lobby, and about the golden status. */
  lobby: object = {}
  status: object = {}
  /** What the page has asked for. */
  readonly asked: string[] = []
  readonly tokens: (string | null)[] = []
  #socket: WebSocketRoute | null = null

  private constructor(shows: string | null) {
    this.shows = shows
  }

  static async behind(page: Page, shows: string | null): Promise<Gateway> {
    const gateway = new Gateway(shows)
    await page.routeWebSocket(`**${PREFIX}ws`, (socket) => gateway.#accept(socket))
    return gateway
  }

  send(text: string): void {
    this.#socket?.send(text)
  }

  async close(code: number): Promise<void> {
    await this.#socket?.close({ code })
  }

  #accept(socket: WebSocketRoute): void {
    if (this.turnsAway !== null) return void socket.close({ code: this.turnsAway })
    this.#socket = socket
    socket.onMessage((text) => {
      const message = JSON.parse(String(text)) as { type: string; token?: string | null }
      if (message.type === 'ping') socket.send('{"type":"pong","nonce":null}')
      if (message.type !== 'hello') return void (message.type !== 'ping' && this.asked.push(message.type))
      this.tokens.push(message.token ?? null)
      if (this.shows === null) return
      const welcome = {
        ...JSON.parse(golden('welcome')),
        player_id: '020202020202',
        reconnect_within_ms: 300,
      }
      socket.send(JSON.stringify(welcome))
      socket.send(JSON.stringify({ ...JSON.parse(golden('server_status')), ...this.status }))
      const state = JSON.parse(golden(this.shows))
      if (state.lobby !== null) state.lobby = { ...state.lobby, ...this.lobby }
      socket.send(JSON.stringify(state))
    })
  }
}
