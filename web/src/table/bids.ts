/** Bids against tricks: what the sum means, how a seat's pips fill, and bids typed as digits. */
import type { Observation } from '../protocol'
import { texts } from '../texts'

export type Tone = 'open' | 'exact' | 'over' | 'short'
export type Pip = 'empty' | 'won' | 'extra'

/** More pips than this don't fit on a plate; the numbers beside them say it all the same. */
export const mostPips = 8

/**
 * How a seat stands: `exact` as long as its bid is met, `short` once it can't be met any more with
 * the `left` tricks of this round.
 */
export function toneOf(bid: number, tricks: number, left: number): Tone {
  if (tricks === bid) return 'exact'
  if (tricks > bid) return 'over'
  return bid - tricks > left ? 'short' : 'open'
}

/** One pip for each trick that was bid, filling as they are won, and one more for each too many. */
export function pipsOf(bid: number, tricks: number): Pip[] {
  const all = Math.max(bid, tricks)
  if (all > mostPips) return []
  return Array.from({ length: all }, (_, index) =>
    index >= bid ? 'extra' : index < tricks ? 'won' : 'empty',
  )
}

/** Tricks of this round that nobody has won yet. */
export function tricksLeft(cards: number, tricks: number[]): number {
  return cards - tricks.reduce((sum, won) => sum + won, 0)
}

type Bidding = Pick<Observation, 'bids' | 'bid_made' | 'cards'>

/** The sum of the bids that can be seen. */
export function bidSum(bids: (number | null)[]): number {
  return bids.reduce((sum: number, bid) => sum + (bid ?? 0), 0)
}

/** Some bid is made but can't be seen yet. */
export function bidsHidden({ bids, bid_made }: Pick<Bidding, 'bids' | 'bid_made'>): boolean {
  return bid_made.some((made, seat) => made && bids[seat] === null)
}

/** One sentence: what is bid against what there is to win. */
export function bidSumSentence({ bids, bid_made, cards }: Bidding): string {
  const words = texts.table.bids
  const made = bid_made.filter(Boolean).length
  if (bidsHidden({ bids, bid_made })) return words.hidden(made, bids.length)
  const sum = bidSum(bids)
  if (made === 0) return words.none(cards)
  if (made < bids.length) return words.open(sum, cards, bids.length - made)
  if (sum === cards) return words.even(sum, cards)
  return sum < cards ? words.under(sum, cards) : words.over(sum, cards)
}

export type Typed = { bid: number } | { pending: string } | { nothing: true }

/**
 * What a typed digit means, after the `pending` ones: a bid as soon as no longer one can be meant,
 * else it waits for the next digit (or for Enter, or a moment).
 */
export function typeDigit(pending: string, digit: string, legal: number[]): Typed {
  const digits = pending + digit
  const longer = legal.some(
    (value) => String(value).length > digits.length && String(value).startsWith(digits),
  )
  if (longer) return { pending: digits }
  const value = Number(digits)
  if (legal.includes(value)) return { bid: value }
  return pending === '' ? { nothing: true } : typeDigit('', digit, legal)
}
