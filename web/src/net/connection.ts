/**
 * The connection to the server as a machine: inputs in, outputs out, the next deadline as data.
 * No socket, clock, chance or storage in here; `socket.ts` is the driver around it.
 *
 * Invariant: "live" means that a real `state` came over the connection that is open now. What is sent
 * before that is handed back, and after a break nothing is repeated but an action with its `turn`.
 */
import type { ClientMessage, ErrorMessage, ServerMessage, ServerStatus, State, Welcome } from '../protocol'
import { backoff, helloAgain, patience, RECONNECT_WITHIN_MS, spread } from './delays'
import { Merger } from './merge'

/** After this long without a state a person wants to know what is wrong. */
export const TROUBLE_AFTER_MS = 10_000
const OPEN_TIMEOUT_MS = 10_000
const WELCOME_TIMEOUT_MS = 10_000
export const PING_INTERVAL_MS = 20_000
const PONG_TIMEOUT_MS = 10_000
/** On coming back to the page: whoever looks at it should not wait long for the truth. */
const NUDGE_TIMEOUT_MS = 4_000
/** Whoever had reconnected by itself this recently and is taken over comes back, once. */
const COME_BACK_WITHIN_MS = 30_000
const HELLO_ID = 'hello'

export const CLOSE = { policy: 1008, tooLarge: 1009, full: 1013, takenOver: 4000 } as const

export type StopReason = 'taken_over' | 'refused' | 'too_large'
export type Trouble = 'unreachable' | 'silent' | 'table_missing' | 'full' | 'unavailable'

export type Input =
  | { type: 'start'; token: string | null }
  | { type: 'opened' }
  | { type: 'received'; message: ServerMessage }
  | { type: 'closed'; code: number }
  | { type: 'send'; message: ClientMessage }
  /** The deadline has come. */
  | { type: 'wake' }
  /** The page is looked at again, or the network is back. */
  | { type: 'nudge' }
  /** A person asks for a try now. */
  | { type: 'retry' }

export type Delivery =
  | { type: 'welcome'; welcome: Welcome }
  | { type: 'status'; status: ServerStatus }
  | { type: 'state'; state: State; /** The first of this connection. */ first: boolean }
  | { type: 'error'; error: ErrorMessage }
  | { type: 'undelivered'; message: ClientMessage }

export type Output =
  | { type: 'open' }
  | { type: 'close' }
  | { type: 'transmit'; message: ClientMessage }
  | { type: 'deliver'; delivery: Delivery }

export type ConnectionView = {
  face: 'connecting' | 'live' | 'reconnecting' | 'stopped'
  stopped: StopReason | null
  /** What is wrong, once it has lasted. */
  trouble: Trouble | null
  /** When the next try is due, on the clock that `step` is given. */
  retry_at_ms: number | null
}

type Phase =
  | { name: 'idle' }
  | { name: 'opening'; give_up_at_ms: number }
  /** `hello_at_ms`: when to say hello again, where the answer was "not just now". */
  | { name: 'greeting'; give_up_at_ms: number | null; hello_at_ms: number | null }
  | { name: 'live' }
  | { name: 'waiting'; until_ms: number }
  | { name: 'stopped'; reason: StopReason }

type PendingAction = { message: ClientMessage; turn: number }

export class Connection {
  readonly #random: () => number
  #phase: Phase = { name: 'idle' }
  #token: string | null = null
  #reconnectWithinMs = RECONNECT_WITHIN_MS
  #merger = new Merger()
  #everLive = false
  #brokenSinceMs = 0
  #trouble: Trouble = 'unreachable'
  #failures = 0
  #fullTimes = 0
  #askedToWaitMs = 0
  #pingDueMs: number | null = null
  #pongDueMs: number | null = null
  #pending: PendingAction | null = null
  /** True from an automatic reopening on; a person's own start or retry makes it false. */
  #byItself = false
  #reconnectedAtMs: number | null = null
  #cameBack = false

  /** `random` gives numbers from 0 up to 1. */
  constructor(random: () => number) {
    this.#random = random
  }

  /** When `wake` is wanted, or null: nothing to wait for. */
  deadlineMs(nowMs: number): number | null {
    const times: (number | null)[] = [this.#pingDueMs, this.#pongDueMs]
    const phase = this.#phase
    if (phase.name === 'opening' || phase.name === 'greeting') times.push(phase.give_up_at_ms)
    if (phase.name === 'greeting') times.push(phase.hello_at_ms)
    if (phase.name === 'waiting') times.push(phase.until_ms)
    const troubleAtMs = this.#brokenSinceMs + TROUBLE_AFTER_MS
    if (this.#isBroken() && troubleAtMs > nowMs) times.push(troubleAtMs)
    const set = times.filter((time) => time !== null)
    return set.length > 0 ? Math.min(...set) : null
  }

  view(nowMs: number): ConnectionView {
    const phase = this.#phase
    const lasting = this.#isBroken() && nowMs - this.#brokenSinceMs >= TROUBLE_AFTER_MS
    return {
      face:
        phase.name === 'live' || phase.name === 'stopped'
          ? phase.name
          : this.#everLive
            ? 'reconnecting'
            : 'connecting',
      stopped: phase.name === 'stopped' ? phase.reason : null,
      // "Full" is an answer, not a suspicion: it is said at once.
      trouble: lasting || (this.#isBroken() && this.#trouble === 'full') ? this.#trouble : null,
      retry_at_ms: phase.name === 'waiting' ? phase.until_ms : null,
    }
  }

  step(nowMs: number, input: Input): Output[] {
    switch (input.type) {
      case 'start':
        this.#token = input.token
        this.#brokenSinceMs = nowMs
        return this.#open(nowMs, false)
      case 'opened':
        return this.#opened(nowMs)
      case 'received':
        return this.#received(nowMs, input.message)
      case 'closed':
        return this.#closed(nowMs, input.code)
      case 'send':
        return this.#send(input.message)
      case 'wake':
        return this.#wake(nowMs)
      case 'nudge':
        return this.#nudge(nowMs)
      case 'retry':
        return this.#retry(nowMs)
    }
  }

  #isBroken(): boolean {
    const { name } = this.#phase
    return name === 'opening' || name === 'greeting' || name === 'waiting'
  }

  #open(nowMs: number, byItself: boolean): Output[] {
    this.#phase = { name: 'opening', give_up_at_ms: nowMs + OPEN_TIMEOUT_MS }
    this.#byItself = byItself
    return [{ type: 'open' }]
  }

  #opened(nowMs: number): Output[] {
    this.#merger = new Merger()
    if (this.#trouble === 'unreachable') this.#trouble = 'silent'
    return this.#hello(nowMs)
  }

  #hello(nowMs: number): Output[] {
    this.#phase = { name: 'greeting', give_up_at_ms: nowMs + WELCOME_TIMEOUT_MS, hello_at_ms: null }
    const message: ClientMessage = { type: 'hello', token: this.#token, partial: true, id: HELLO_ID }
    return [{ type: 'transmit', message }]
  }

  #received(nowMs: number, message: ServerMessage): Output[] {
    this.#pongDueMs = null
    switch (message.type) {
      case 'welcome':
        return this.#welcomed(nowMs, message)
      case 'state':
        return this.#stateCame(nowMs, this.#merger.complete(message))
      case 'server_status': {
        const { type: _, ...status } = message
        this.#reconnectWithinMs = status.reconnect_within_ms ?? this.#reconnectWithinMs
        return deliver({ type: 'status', status })
      }
      case 'error':
        return this.#errorCame(nowMs, message)
      case 'pong':
        return []
    }
  }

  #welcomed(nowMs: number, welcome: Welcome): Output[] {
    this.#token = welcome.token
    this.#reconnectWithinMs = welcome.reconnect_within_ms
    this.#trouble = 'table_missing'
    this.#fullTimes = 0
    this.#pingDueMs = nowMs + PING_INTERVAL_MS
    // From here on the pings tell whether the other side lives; its table may take a while to come.
    if (this.#phase.name === 'greeting') {
      this.#phase = { name: 'greeting', give_up_at_ms: null, hello_at_ms: null }
    }
    if (this.#byItself && this.#everLive) this.#reconnectedAtMs = nowMs
    return deliver({ type: 'welcome', welcome })
  }

  #stateCame(nowMs: number, state: State): Output[] {
    const first = this.#phase.name !== 'live'
    if (first) {
      this.#phase = { name: 'live' }
      this.#everLive = true
      this.#failures = 0
      this.#askedToWaitMs = 0
    }
    if (this.#reconnectedAtMs !== null && nowMs - this.#reconnectedAtMs > COME_BACK_WITHIN_MS) {
      this.#reconnectedAtMs = null
      this.#cameBack = false
    }
    return [...this.#settlePending(state, first), ...deliver({ type: 'state', state, first })]
  }

  /** An action that the broken connection may have swallowed goes once more, if its turn has not passed. */
  #settlePending(state: State, first: boolean): Output[] {
    const pending = this.#pending
    if (!pending) return []
    const observation = state.game?.observation
    if (!observation || observation.turn !== pending.turn) {
      this.#pending = null
      return []
    }
    return first ? [{ type: 'transmit', message: pending.message }] : []
  }

  #errorCame(nowMs: number, error: ErrorMessage): Output[] {
    if (this.#pending && error.id === this.#pending.message.id) this.#pending = null
    const refused = error.code === 'unavailable' || error.code === 'internal'
    if (this.#phase.name !== 'greeting') return deliver({ type: 'error', error })
    this.#askedToWaitMs = error.retry_after_ms ?? 0
    if (!refused) return error.code === 'busy' ? [] : deliver({ type: 'error', error })
    this.#trouble = 'unavailable'
    // Welcomed: the table may still come by itself.
    if (this.#phase.give_up_at_ms === null) return []
    const againMs = helloAgain(this.#askedToWaitMs, this.#random())
    this.#phase = {
      name: 'greeting',
      give_up_at_ms: nowMs + againMs + WELCOME_TIMEOUT_MS,
      hello_at_ms: nowMs + againMs,
    }
    return []
  }

  #send(message: ClientMessage): Output[] {
    if (this.#phase.name !== 'live') return deliver({ type: 'undelivered', message })
    if (message.type === 'action' && message.turn !== undefined) {
      // The second click of a double click: the first one is on its way.
      if (this.#pending?.turn === message.turn) return []
      this.#pending = { message, turn: message.turn }
    }
    return [{ type: 'transmit', message }]
  }

  #closed(nowMs: number, code: number): Output[] {
    const wasLive = this.#phase.name === 'live'
    this.#pingDueMs = null
    this.#pongDueMs = null
    if (wasLive) this.#brokenSinceMs = nowMs
    if (code === CLOSE.policy) return this.#stop('refused')
    if (code === CLOSE.tooLarge) return this.#stop('too_large')
    if (code === CLOSE.takenOver && !this.#mayComeBack(nowMs)) return this.#stop('taken_over')
    if (code === CLOSE.full) {
      this.#trouble = 'full'
      this.#fullTimes += 1
      return this.#wait(nowMs, patience(this.#fullTimes, this.#askedToWaitMs, this.#random()))
    }
    if (this.#trouble !== 'unavailable') this.#trouble = 'unreachable'
    if (wasLive) return this.#wait(nowMs, spread(this.#reconnectWithinMs, this.#random()))
    this.#failures += 1
    return this.#wait(nowMs, Math.max(backoff(this.#failures, this.#random()), this.#askedToWaitMs))
  }

  #mayComeBack(nowMs: number): boolean {
    const recently = this.#reconnectedAtMs !== null && nowMs - this.#reconnectedAtMs <= COME_BACK_WITHIN_MS
    if (!recently || this.#cameBack) return false
    this.#cameBack = true
    return true
  }

  #wait(nowMs: number, delayMs: number): Output[] {
    this.#phase = { name: 'waiting', until_ms: nowMs + delayMs }
    return []
  }

  #stop(reason: StopReason): Output[] {
    this.#phase = { name: 'stopped', reason }
    this.#pending = null
    return []
  }

  #wake(nowMs: number): Output[] {
    const phase = this.#phase
    const due = (time: number | null): boolean => time !== null && time <= nowMs
    if (phase.name === 'waiting' && due(phase.until_ms)) return this.#open(nowMs, true)
    if (phase.name === 'greeting' && due(phase.hello_at_ms)) return this.#hello(nowMs)
    if ((phase.name === 'opening' || phase.name === 'greeting') && due(phase.give_up_at_ms)) {
      return this.#giveUp(nowMs)
    }
    if (due(this.#pongDueMs)) return this.#giveUp(nowMs)
    if (due(this.#pingDueMs)) return this.#ping(nowMs, PONG_TIMEOUT_MS)
    return []
  }

  #ping(nowMs: number, timeoutMs: number): Output[] {
    this.#pingDueMs = nowMs + PING_INTERVAL_MS
    this.#pongDueMs = nowMs + timeoutMs
    return [{ type: 'transmit', message: { type: 'ping' } }]
  }

  #giveUp(nowMs: number): Output[] {
    const greeting = this.#phase.name === 'greeting'
    const outputs = this.#closed(nowMs, 1006)
    // It took the connection, so the player's network is not to blame.
    if (greeting && this.#trouble === 'unreachable') this.#trouble = 'silent'
    return [{ type: 'close' }, ...outputs]
  }

  #nudge(nowMs: number): Output[] {
    if (this.#phase.name === 'waiting' && this.#trouble !== 'full') return this.#open(nowMs, true)
    if (this.#phase.name === 'live' && this.#pongDueMs === null) return this.#ping(nowMs, NUDGE_TIMEOUT_MS)
    return []
  }

  #retry(nowMs: number): Output[] {
    const { name } = this.#phase
    if (name !== 'waiting' && name !== 'stopped') return []
    if (name === 'stopped') this.#brokenSinceMs = nowMs
    this.#cameBack = false
    this.#reconnectedAtMs = null
    return this.#open(nowMs, false)
  }
}

const deliver = (delivery: Delivery): Output[] => [{ type: 'deliver', delivery }]
