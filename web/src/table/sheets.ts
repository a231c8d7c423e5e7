/** What the score sheet tells beyond its rows: running totals, everyone's best and worst round, bids hit. */
import type { SheetRound } from '../protocol'

export type RoundPoints = { round: number; points: number }
export type Career = { best: RoundPoints | null; worst: RoundPoints | null; hits: number; rounds: number }

/** A seat's game in short. Of equal rounds the earlier one counts. */
export function careerOf(sheet: SheetRound[], seat: number): Career {
  const played = sheet.map(({ round, points }) => ({ round, points: points[seat] ?? 0 }))
  const pick = (better: (a: number, b: number) => boolean): RoundPoints | null =>
    played.reduce((found: RoundPoints | null, one) => {
      return found === null || better(one.points, found.points) ? one : found
    }, null)
  return {
    best: pick((a, b) => a > b),
    worst: pick((a, b) => a < b),
    hits: sheet.filter(({ bids, tricks }) => bids[seat] === tricks[seat]).length,
    rounds: sheet.length,
  }
}

/** The totals after each round, a row of seats each. */
export function totalsOf(sheet: SheetRound[], seats: number): number[][] {
  let before = Array.from({ length: seats }, () => 0)
  return sheet.map(({ points }) => {
    before = before.map((total, seat) => total + (points[seat] ?? 0))
    return before
  })
}

export type Standing = { seat: number; score: number; rank: number }

/** The seats by their totals so far, best first; equal totals share a rank. */
export function standing(scores: number[]): Standing[] {
  return scores
    .map((score, seat) => ({ seat, score, rank: 1 + scores.filter((other) => other > score).length }))
    .sort((a, b) => a.rank - b.rank || a.seat - b.seat)
}
