/**
 * What moves when a new state comes. Decides only; the components carry it out. The newest state is
 * always drawn at once, movements are added to it and nothing waits for them.
 */
import type { Event, State } from '../protocol'
import type { RoundEnd } from './tricks'

/** One card's way, in milliseconds; between the limits that an eye follows without waiting. */
export const flightMs = 280
export const gatherMs = 320
export const dealStepMs = 40
/** Twenty cards at 40 ms would be slower than a hand can be read; the last ones come together. */
export const longestDealMs = 600
/** A round's last trick and its points stay in sight this long, while the next round begins. */
export const roundEndMs = 2600

/** States closer together than this are a burst. */
const burstMs = 90

export type Motion = {
  /** Too much happened at once to follow: show the newest without any movement. */
  jump: boolean
  /** A new hand was dealt, from this seat. */
  dealtBy: number | null
  roundEnd: RoundEnd | null
}

export const still: Motion = { jump: true, dealtBy: null, roundEnd: null }

/** `sinceLastMs`: since the state before, which had the round `roundBefore`; null: there was none. */
export function motionOf(events: Event[], roundBefore: number | null, sinceLastMs: number): Motion {
  const cardsPlayed = events.filter(({ type }) => type === 'card_played').length
  const roundsStarted = events.filter(({ type }) => type === 'round_started').length
  const started = events.find((event) => event.type === 'round_started')
  if (roundBefore === null) {
    const begins = events.some(({ type }) => type === 'game_started') && cardsPlayed === 0
    return begins ? { jump: false, dealtBy: started?.dealer ?? null, roundEnd: null } : still
  }
  if (cardsPlayed > 2 || roundsStarted > 1 || sinceLastMs < burstMs) return still
  return { jump: false, dealtBy: started?.dealer ?? null, roundEnd: roundEndOf(events, roundBefore) }
}

function roundEndOf(events: Event[], round: number): RoundEnd | null {
  const scored = events.find((event) => event.type === 'round_scored')
  const completed = events.findLast((event) => event.type === 'trick_completed')
  if (scored === undefined || completed === undefined) return null
  const { bids, tricks, points } = scored
  return { round, plays: completed.plays, winner: completed.winner, bids, tricks, points }
}

/** The reactions among a state's events, newest of each seat. */
export function reactionsIn(state: State): Extract<Event, { type: 'reaction' }>[] {
  const bySeat = new Map<number, Extract<Event, { type: 'reaction' }>>()
  for (const event of state.events) if (event.type === 'reaction') bySeat.set(event.seat, event)
  return [...bySeat.values()]
}

/** When the card at `index` of a dealt hand sets out. */
export function dealDelay(index: number, cards: number): number {
  const step = Math.min(dealStepMs, longestDealMs / Math.max(1, cards - 1))
  return Math.round(index * step)
}
