/**
 * What this player has sent and what they are told in return: one move at a time, and one sentence
 * for a while. It decides nothing about the game; the server guards every move by its turn as well.
 */
import type { Action, ClientMessage } from '../protocol'

const noteMs = 4500
/** An answer that never comes must not lock the hand: then the server refuses what is out of date. */
const answerMs = 4000
/** The server lets one reaction pass in this time. */
const reactionMs = 2000

export class Control {
  /** What is on its way, until the game moves on or an error comes. */
  sent = $state<Action | null>(null)
  note = $state<string | null>(null)
  reactedLately = $state(false)
  #turn = 0
  #send: (message: ClientMessage) => void
  #timers = new Map<string, ReturnType<typeof setTimeout>>()

  constructor(send: (message: ClientMessage) => void) {
    this.#send = send
  }

  act(action: Action, turn: number): void {
    if (this.sent !== null) return
    this.sent = action
    this.#turn = turn
    this.note = null
    this.#after('answer', answerMs, () => (this.sent = null))
    this.#send({ type: 'action', action, turn })
  }

  /** A state has come; if the game has moved on in it, the move is answered. */
  arrived(turn: number): void {
    if (turn !== this.#turn) this.sent = null
  }

  /** The server has refused something; its sentence is newer than any of ours. */
  refused(): void {
    this.sent = null
    this.note = null
  }

  tell(sentence: string): void {
    this.note = sentence
    this.#after('note', noteMs, () => (this.note = null))
  }

  send(message: ClientMessage): void {
    this.#send(message)
  }

  react(message: Extract<ClientMessage, { type: 'react' }>): void {
    if (this.reactedLately) return
    this.reactedLately = true
    this.#after('reaction', reactionMs, () => (this.reactedLately = false))
    this.#send(message)
  }

  stop(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer)
  }

  #after(name: string, ms: number, then: () => void): void {
    clearTimeout(this.#timers.get(name))
    this.#timers.set(name, setTimeout(then, ms))
  }
}
