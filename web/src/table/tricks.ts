/** Which trick lies on the table: the one being played, or the finished one until the next begins. */
import type { Observation, Suit, TrickPlay } from '../protocol'

export type ShownTrick = {
  round: number
  plays: TrickPlay[]
  leader: number
  led: Suit | null
  /** Who is ahead, or has won. */
  winning: number | null
  finished: boolean
}

/** The last trick of a round that is over, kept in sight although the server is in the next round. */
export type RoundEnd = {
  round: number
  plays: TrickPlay[]
  winner: number
  bids: number[]
  tricks: number[]
  points: number[]
}

export function shownTrick(observation: Observation, roundEnd: RoundEnd | null): ShownTrick {
  const { trick, last_trick, round } = observation
  if (trick.plays.length === 0 && last_trick !== null) {
    const { plays, leader, led, winner } = last_trick
    return { round, plays, leader, led, winning: winner, finished: true }
  }
  if (trick.plays.length === 0 && roundEnd !== null) {
    const { plays, winner } = roundEnd
    const leader = plays[0]?.seat ?? winner
    return { round: roundEnd.round, plays, leader, led: null, winning: winner, finished: true }
  }
  return { ...trick, round, finished: false }
}
