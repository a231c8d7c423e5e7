import { describe, expect, it } from 'vitest'
import type { ClientMessage, ErrorCode, ServerMessage } from '../protocol'
import { Connection, PING_INTERVAL_MS, TROUBLE_AFTER_MS, type Input, type Output } from './connection'

/** A connection on a clock that the test moves, with chance pinned. */
class Bench {
  now = 1_000
  random = 0.5
  readonly connection = new Connection(() => this.random)
  log: Output[] = []

  do(input: Input): Output[] {
    const outputs = this.connection.step(this.now, input)
    this.log.push(...outputs)
    return outputs
  }

  /** Moves the clock, and wakes the machine at each deadline on the way. */
  pass(ms: number): void {
    const end = this.now + ms
    for (let wakes = 0; wakes < 1_000; wakes += 1) {
      const deadline = this.connection.deadlineMs(this.now)
      if (deadline === null || deadline > end) break
      this.now = Math.max(this.now, deadline)
      this.do({ type: 'wake' })
    }
    this.now = end
  }

  receive(message: ServerMessage): Output[] {
    return this.do({ type: 'received', message })
  }

  error(code: ErrorCode, more: { id?: string; retry_after_ms?: number } = {}): Output[] {
    return this.receive({ type: 'error', code, message: '', ...more })
  }

  greet(): void {
    this.do({ type: 'opened' })
    this.receive({ type: 'welcome', player_id: 'aa', token: 'T1', name: null, reconnect_within_ms: 4_000 })
  }

  /** Open, welcomed, and with a state. */
  live(turn: number | null = null): Output[] {
    this.greet()
    return this.receive(state(turn))
  }

  start(turn: number | null = null): this {
    this.do({ type: 'start', token: null })
    this.live(turn)
    return this
  }

  face(): string {
    return this.connection.view(this.now).face
  }

  opens(): number {
    return this.log.filter((output) => output.type === 'open').length
  }

  /** How long until it opens a new socket by itself. */
  msUntilOpen(): number {
    const before = this.opens()
    const start = this.now
    for (let ms = 0; ms <= 400_000; ms += 10) {
      if (this.opens() > before) return this.now - start
      this.pass(10)
    }
    return Infinity
  }
}

function state(turn: number | null): ServerMessage {
  if (turn === null) return { type: 'state', seq: 1, lobby: null, game: null, events: [] }
  const game = { you: 0, deal_commitment: '', seed: null, observation: { turn, to_act: 0 } }
  return { type: 'state', seq: 1, lobby: null, game, events: [] } as unknown as ServerMessage
}

const transmitted = (outputs: Output[]): ClientMessage[] =>
  outputs.flatMap((output) => (output.type === 'transmit' ? [output.message] : []))

const play = (turn: number, id = 'c1'): ClientMessage => ({
  type: 'action',
  action: { type: 'play', card: 'R7' },
  turn,
  id,
})

describe('greeting', () => {
  it('says hello with the token and asks for partial states', () => {
    const bench = new Bench()
    expect(bench.do({ type: 'start', token: 'OLD' })).toEqual([{ type: 'open' }])
    expect(transmitted(bench.do({ type: 'opened' }))).toEqual([
      { type: 'hello', token: 'OLD', partial: true, id: 'hello' },
    ])
  })

  it('is connecting until a real state is there', () => {
    const bench = new Bench()
    bench.do({ type: 'start', token: null })
    bench.greet()
    expect(bench.face()).toBe('connecting')
    bench.receive(state(null))
    expect(bench.face()).toBe('live')
  })

  it('comes back with the token of the last welcome', () => {
    const bench = new Bench().start()
    bench.do({ type: 'closed', code: 1006 })
    bench.msUntilOpen()
    expect(transmitted(bench.do({ type: 'opened' }))[0]).toMatchObject({ type: 'hello', token: 'T1' })
  })

  it('says what is wrong after ten seconds and goes on trying', () => {
    const bench = new Bench()
    bench.do({ type: 'start', token: null })
    bench.do({ type: 'closed', code: 1006 })
    expect(bench.connection.view(bench.now).trouble).toBeNull()
    const deadline = bench.connection.deadlineMs(bench.now)
    expect(deadline).not.toBeNull()
    bench.pass(TROUBLE_AFTER_MS)
    expect(bench.connection.view(bench.now).trouble).toBe('unreachable')
    expect(bench.opens()).toBeGreaterThan(1)
  })

  it('tells a silent server from one whose table is missing', () => {
    const silent = new Bench()
    silent.do({ type: 'start', token: null })
    silent.pass(9_000)
    silent.do({ type: 'opened' })
    silent.pass(1_500)
    expect(silent.connection.view(silent.now).trouble).toBe('silent')
    silent.pass(9_000)
    expect(silent.connection.view(silent.now), 'given up, and about to try again').toMatchObject({
      trouble: 'silent',
      retry_at_ms: expect.any(Number),
    })

    const missing = new Bench()
    missing.do({ type: 'start', token: null })
    missing.greet()
    missing.pass(TROUBLE_AFTER_MS)
    expect(missing.connection.view(missing.now).trouble).toBe('table_missing')
  })

  it('opens anew when nobody answers the hello', () => {
    const bench = new Bench()
    bench.do({ type: 'start', token: null })
    bench.do({ type: 'opened' })
    bench.pass(10_000)
    expect(bench.log).toContainEqual({ type: 'close' })
    expect(bench.msUntilOpen()).toBeLessThan(2_000)
  })

  it('says hello again when the session can not be found out yet', () => {
    const bench = new Bench()
    bench.do({ type: 'start', token: 'OLD' })
    bench.do({ type: 'opened' })
    expect(bench.error('unavailable', { id: 'hello', retry_after_ms: 2_000 })).toEqual([])
    bench.pass(2_499)
    expect(transmitted(bench.log)).toHaveLength(1)
    bench.pass(1)
    expect(transmitted(bench.log).map(({ type }) => type)).toEqual(['hello', 'hello'])
    bench.pass(TROUBLE_AFTER_MS - 2_501)
    expect(bench.connection.view(bench.now).trouble).toBeNull()
    bench.pass(1)
    expect(bench.connection.view(bench.now).trouble).toBe('unavailable')
    bench.live()
    expect(bench.face()).toBe('live')
  })
})

describe('coming back', () => {
  it.each([1000, 1001, 1006, 1011, 1012, 4408, 4413])('after %d within the time of the welcome', (code) => {
    const bench = new Bench().start()
    bench.random = 0.999
    bench.do({ type: 'closed', code })
    expect(bench.face()).toBe('reconnecting')
    const wait = bench.msUntilOpen()
    expect(wait).toBeGreaterThan(3_900)
    expect(wait).toBeLessThanOrEqual(4_000)
  })

  it('comes back as slowly as a loaded server asks', () => {
    const bench = new Bench().start()
    bench.receive({
      type: 'server_status',
      level: 'overloaded',
      accepting_games: false,
      reason: 'overloaded',
      retry_after_ms: 15_000,
      reconnect_within_ms: 16_000,
    })
    bench.do({ type: 'closed', code: 1012 })
    expect(bench.msUntilOpen()).toBe(8_000)
  })

  it('waits longer after each failure, up to a ceiling', () => {
    const bench = new Bench().start()
    bench.do({ type: 'closed', code: 1006 })
    bench.msUntilOpen()
    const waits = []
    for (let tries = 0; tries < 8; tries += 1) {
      bench.do({ type: 'closed', code: 1006 })
      waits.push(bench.msUntilOpen())
    }
    expect(waits.slice(0, 3)).toEqual([750, 1_500, 3_000])
    expect(waits.at(-1)).toBe(15_000)
  })

  it('begins anew with short waits once it was live', () => {
    const bench = new Bench().start()
    for (let tries = 0; tries < 5; tries += 1) {
      bench.do({ type: 'closed', code: 1006 })
      bench.msUntilOpen()
    }
    bench.live()
    bench.do({ type: 'closed', code: 1006 })
    expect(bench.msUntilOpen()).toBe(2_000)
  })

  it('retries a full server slowly, from fifteen seconds', () => {
    const bench = new Bench()
    bench.do({ type: 'start', token: null })
    bench.random = 0
    const waits = []
    for (let tries = 0; tries < 9; tries += 1) {
      bench.do({ type: 'opened' })
      bench.error('busy')
      bench.do({ type: 'closed', code: 1013 })
      expect(bench.connection.view(bench.now).trouble).toBe('full')
      waits.push(bench.msUntilOpen())
    }
    expect(waits.slice(0, 3)).toEqual([15_000, 22_500, 33_750])
    expect(waits.at(-1)).toBe(120_000)
  })

  it('does not let a nudge hurry a full server', () => {
    const bench = new Bench()
    bench.do({ type: 'start', token: null })
    bench.do({ type: 'closed', code: 1013 })
    expect(bench.do({ type: 'nudge' })).toEqual([])
  })

  it('opens at once when the network is back', () => {
    const bench = new Bench().start()
    bench.do({ type: 'closed', code: 1006 })
    expect(bench.do({ type: 'nudge' })).toEqual([{ type: 'open' }])
  })

  it.each([
    [1008, 'refused'],
    [1009, 'too_large'],
    [4000, 'taken_over'],
  ])('stops after %d', (code, reason) => {
    const bench = new Bench().start()
    bench.do({ type: 'closed', code })
    expect(bench.connection.view(bench.now)).toMatchObject({ face: 'stopped', stopped: reason })
    expect(bench.msUntilOpen()).toBe(Infinity)
    expect(bench.do({ type: 'retry' })).toEqual([{ type: 'open' }])
  })
})

describe('opened in another window', () => {
  const reconnected = (): Bench => {
    const bench = new Bench().start()
    bench.do({ type: 'closed', code: 1006 })
    bench.msUntilOpen()
    bench.live()
    return bench
  }

  it('comes back once after having reconnected by itself', () => {
    const bench = reconnected()
    bench.pass(29_000)
    bench.receive({ type: 'pong', nonce: null })
    bench.do({ type: 'closed', code: 4000 })
    expect(bench.msUntilOpen()).toBe(2_000)
    bench.live()
    bench.do({ type: 'closed', code: 4000 })
    expect(bench.face()).toBe('stopped')
  })

  it('stops when the reconnect is longer ago', () => {
    const bench = reconnected()
    bench.pass(19_000)
    bench.pass(5_000)
    bench.receive({ type: 'pong', nonce: null })
    bench.pass(7_000)
    bench.do({ type: 'closed', code: 4000 })
    expect(bench.face()).toBe('stopped')
  })

  it('stops when a person had taken it here', () => {
    const bench = new Bench().start()
    bench.do({ type: 'closed', code: 4000 })
    bench.do({ type: 'retry' })
    bench.live()
    bench.do({ type: 'closed', code: 4000 })
    expect(bench.face()).toBe('stopped')
  })
})

describe('dead links', () => {
  it('pings, and gives up when nothing comes back', () => {
    const bench = new Bench().start()
    bench.pass(PING_INTERVAL_MS)
    expect(transmitted(bench.log).at(-1)).toEqual({ type: 'ping' })
    bench.pass(10_000)
    expect(bench.face()).toBe('reconnecting')
    expect(bench.log).toContainEqual({ type: 'close' })
  })

  it('takes any frame as a sign of life', () => {
    const bench = new Bench().start()
    for (let rounds = 0; rounds < 5; rounds += 1) {
      bench.pass(PING_INTERVAL_MS)
      bench.receive(state(null))
    }
    expect(bench.face()).toBe('live')
  })

  it('finds out soon when the page is looked at again', () => {
    const bench = new Bench().start()
    expect(transmitted(bench.do({ type: 'nudge' }))).toEqual([{ type: 'ping' }])
    bench.pass(4_000)
    expect(bench.face()).toBe('reconnecting')
  })
})

describe('sending', () => {
  it('hands back what can not be sent', () => {
    const bench = new Bench()
    bench.do({ type: 'start', token: null })
    const message: ClientMessage = { type: 'create_lobby', name: 'Ada', id: 'c1' }
    expect(bench.do({ type: 'send', message })).toEqual([
      { type: 'deliver', delivery: { type: 'undelivered', message } },
    ])
  })

  it('plays once on a double click', () => {
    const bench = new Bench().start(7)
    expect(transmitted(bench.do({ type: 'send', message: play(7) }))).toHaveLength(1)
    expect(bench.do({ type: 'send', message: play(7, 'c2') })).toEqual([])
  })

  it('lets another card be tried after a refusal', () => {
    const bench = new Bench().start(7)
    bench.do({ type: 'send', message: play(7) })
    bench.error('illegal_action', { id: 'c1' })
    expect(transmitted(bench.do({ type: 'send', message: play(7, 'c2') }))).toHaveLength(1)
  })

  const breakAndReturn = (bench: Bench, turn: number): ClientMessage[] => {
    bench.do({ type: 'closed', code: 1012 })
    bench.msUntilOpen()
    return transmitted(bench.live(turn))
  }

  it('repeats an action whose turn is still open, once', () => {
    const bench = new Bench().start(7)
    bench.do({ type: 'send', message: play(7) })
    expect(breakAndReturn(bench, 7)).toEqual([play(7)])
    expect(transmitted(bench.receive(state(7)))).toEqual([])
  })

  it('does not repeat an action that was taken', () => {
    const bench = new Bench().start(7)
    bench.do({ type: 'send', message: play(7) })
    expect(breakAndReturn(bench, 8)).toEqual([])
  })

  it('repeats nothing else', () => {
    const bench = new Bench().start()
    bench.do({ type: 'send', message: { type: 'start_game', id: 'c1' } })
    bench.do({ type: 'send', message: { type: 'action', action: { type: 'bid', value: 1 }, id: 'c2' } })
    bench.do({ type: 'closed', code: 1012 })
    bench.msUntilOpen()
    expect(transmitted(bench.live())).toEqual([])
  })
})
