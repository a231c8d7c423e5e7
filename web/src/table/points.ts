/** Where the points of a round came from, as a sum that a person can follow. The server has counted them. */
import type { Game } from '../protocol'
import { texts } from '../texts'

/** `20 + 2 × 10 = 40`, `20`, `2 off, −20`. */
export function pointsFrom(bid: number, won: number, points: number): string {
  const words = texts.table.points
  if (bid !== won) return words.missed(Math.abs(bid - won), points)
  return won === 0 ? words.zero(points) : words.hit(won, points)
}

/** How the round before went for whoever looks, until the first card of this one; else empty. */
export function lastRoundSentence({ you, observation }: Game): string {
  const { sheet, phase } = observation
  const row = sheet.at(-1)
  if (row === undefined || you === null || (phase !== 'bid' && phase !== 'choose_trump')) return ''
  const bid = row.bids[you] ?? 0
  const won = row.tricks[you] ?? 0
  return texts.table.points.ofRound(bid, won, pointsFrom(bid, won, row.points[you] ?? 0))
}
