/**
 * What lasts longer than one state: the movement under way, the end of a round while the next one
 * begins, reactions, and what the live region says. Everything else is drawn from the newest state.
 */
import { SvelteMap } from 'svelte/reactivity'
import type { Reaction, State } from '../protocol'
import { motionOf, reactionsIn, roundEndMs, still, type Motion } from './motion'
import { narrate } from './narration'
import type { SeatView } from './seatview'
import type { RoundEnd } from './tricks'

const reactionMs = 3200

export type Deadline = { key: number; remainingMs: number; totalMs: number }

export class Show {
  motion = $state.raw<Motion>(still)
  roundEnd = $state.raw<RoundEnd | null>(null)
  spoken = $state('')
  readonly reactions = new SvelteMap<number, Reaction>()
  #before: { seq: number; turn: number; round: number; atMs: number } | null = null
  #timers = new Map<string, ReturnType<typeof setTimeout>>()

  /** A new picture has come. */
  take(picture: State): void {
    const observation = picture.game?.observation
    if (observation === undefined || this.#before?.seq === picture.seq) return
    const before = this.#before
    const atMs = performance.now()
    this.motion = document.hidden
      ? still
      : motionOf(picture.events, before?.round ?? null, atMs - (before?.atMs ?? 0))
    if (this.motion.roundEnd !== null) {
      this.roundEnd = this.motion.roundEnd
      this.#after('round', roundEndMs, () => (this.roundEnd = null))
    } else if (observation.trick.plays.length > 0) {
      this.roundEnd = null
    }
    for (const { seat, reaction } of reactionsIn(picture)) {
      this.reactions.set(seat, reaction)
      this.#after(`reaction ${seat}`, reactionMs, () => this.reactions.delete(seat))
    }
    this.spoken = narrate(picture, before?.turn ?? null) || this.spoken
    this.#before = { seq: picture.seq, turn: observation.turn, round: observation.round, atMs }
  }

  /** Time left for this seat as the picture said it; its ring runs from there by itself. */
  deadlineOf(view: SeatView, { seq, lobby, game }: State): Deadline | null {
    const remainingMs = game?.observation.deadline_ms ?? null
    if (!view.acting || remainingMs === null) return null
    return { key: seq, remainingMs, totalMs: (lobby?.options.turn_seconds ?? 0) * 1000 }
  }

  stop(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer)
  }

  #after(name: string, ms: number, then: () => void): void {
    clearTimeout(this.#timers.get(name))
    this.#timers.set(name, setTimeout(then, ms))
  }
}
