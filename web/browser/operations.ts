/** What the tests of the operators' page stand on: the real program, or a gateway that the test plays. */
import { test as base } from '@playwright/test'
import { spawn, type ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import { createServer as createSocket, type AddressInfo } from 'node:net'
import { extname } from 'node:path'
import type { Node, Past, Trails } from '../src/operations/node'

const PROGRAM = process.env['WIZARD'] ?? new URL('../../target/debug/wizard', import.meta.url).pathname
const BUILT = new URL('../dist-operations/', import.meta.url)
const TYPES: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
}
/** As the program sends it. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

export const TOKEN = 'for operators only'

/** A process of the real program with an operations port that is known before it starts. */
export class Wizard {
  readonly address: string
  #child: ChildProcess
  #ended: Promise<void>

  private constructor(address: string, child: ChildProcess) {
    this.address = address
    this.#child = child
    this.#ended = new Promise((resolve) => child.once('exit', () => resolve()))
  }

  static async start(): Promise<Wizard> {
    const port = await freePort()
    const env = {
      PATH: process.env['PATH'],
      LISTEN_ADDR: '127.0.0.1:0',
      OPS_ADDR: `127.0.0.1:${port}`,
      NODE_ID: 'test',
      OPERATOR_TOKEN: TOKEN,
      LOG_LEVEL: 'warn',
      // Whatever else this machine does.
      LOAD_FORCE_LEVEL: 'normal',
    }
    const child = spawn(PROGRAM, [], { env, stdio: ['ignore', 'ignore', 'inherit'] })
    return new Wizard(`http://127.0.0.1:${port}/`, child)
  }

  /** Without a goodbye. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#ended
  }
}

/** The operations port of a gateway, with what the test makes it say. */
export class Gateway {
  readonly drains: { id: string; token: string }[] = []
  /** What the next drains are answered. */
  drainStatus = 202
  /** Whether it takes new watchers. */
  open = true
  nodes: Node[] = []
  trails: Trails['nodes'] = {}
  past: Past[] = []
  address = ''
  #beating: NodeJS.Timeout | undefined
  #watchers = new Set<ServerResponse>()
  #server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://page').pathname
    const drain = /^\/nodes\/([^/]+)\/drain$/.exec(path)
    if (path === '/nodes/events') return this.#watch(response)
    if (drain && request.method === 'POST') {
      this.drains.push({ id: drain[1] ?? '', token: request.headers.authorization ?? '' })
      return void response.writeHead(this.drainStatus).end()
    }
    try {
      const file = path === '/' ? 'operations.html' : path.slice(1)
      const body = readFileSync(new URL(file, BUILT))
      const type = TYPES[extname(file)] ?? 'application/octet-stream'
      response.writeHead(200, { 'content-type': type, 'content-security-policy': POLICY }).end(body)
    } catch {
      response.writeHead(404).end()
    }
  })

  static async start(): Promise<Gateway> {
    const gateway = new Gateway()
    await new Promise<void>((resolve) => gateway.#server.listen(0, '127.0.0.1', resolve))
    gateway.address = `http://127.0.0.1:${(gateway.#server.address() as AddressInfo).port}/`
    return gateway
  }

  say(event: string, data: unknown): void {
    for (const watcher of this.#watchers) tell(watcher, event, data)
  }

  /** Everybody's heartbeat is as old as their `last_seen` says. */
  beat(more: object = {}): void {
    const last_seen = Object.fromEntries(this.nodes.map((node) => [node.id, node.last_seen]))
    this.say('beats', { now: Date.now(), current: true, as_of: Date.now(), last_seen, ...more })
  }

  /** Beats every second; these are heard of no more. */
  keepBeating(silent: string[] = []): void {
    const beating = (one: Node): Node => (silent.includes(one.id) ? one : { ...one, last_seen: Date.now() })
    this.#beating = setInterval(() => {
      this.nodes = this.nodes.map(beating)
      this.beat()
    }, 1_000)
  }

  /** Ends all streams. */
  drop(): void {
    for (const watcher of this.#watchers) watcher.destroy()
    this.#watchers.clear()
  }

  async stop(): Promise<void> {
    clearInterval(this.#beating)
    this.drop()
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #watch(response: ServerResponse): void {
    if (!this.open) return void response.writeHead(503).end()
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('retry: 200\n\n')
    this.#watchers.add(response)
    tell(response, 'snapshot', this.nodes)
    tell(response, 'history', this.past)
    tell(response, 'trails', { every_ms: 5_000, nodes: this.trails })
    this.beat()
  }
}

const tell = (watcher: ServerResponse, event: string, data: unknown): void =>
  void watcher.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)

/** A node that is well. */
export function node(id: string, more: Partial<Node> = {}): Node {
  return {
    id,
    role: 'game',
    incarnation: `run of ${id}`,
    address: '10.0.0.7:7000',
    state: 'ready',
    verified: true,
    why: null,
    load: 'normal',
    accepting_games: true,
    players: 0,
    lobbies: 0,
    active_games: 0,
    version: '0.1.0',
    suspended: 0,
    uncommitted: 0,
    last_handed_over: null,
    last_taken_over: null,
    started_at: Date.now() - 3_600_000,
    last_seen: Date.now() - 1_000,
    link: 'up',
    dead: false,
    cut_off: false,
    ...more,
  }
}

export async function freePort(): Promise<number> {
  const socket = createSocket()
  await new Promise<void>((resolve) => socket.listen(0, '127.0.0.1', resolve))
  const { port } = socket.address() as AddressInfo
  await new Promise((resolve) => socket.close(resolve))
  return port
}

export const test = base.extend<{ gateway: Gateway; wizard: Wizard }>({
  gateway: async ({}, use) => {
    const gateway = await Gateway.start()
    await use(gateway)
    await gateway.stop()
  },
  wizard: async ({}, use) => {
    const wizard = await Wizard.start()
    await use(wizard)
    await wizard.kill()
  },
})
export { expect } from '@playwright/test'
