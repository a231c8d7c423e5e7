import { describe, expect, it } from 'vitest'
import { bidSumSentence, pipsOf, toneOf, typeDigit } from './bids'

it.each([
  // bid, tricks, left in the round, tone
  [2, 0, 5, 'open'],
  [2, 2, 3, 'exact'],
  [0, 0, 4, 'exact'],
  [1, 2, 1, 'over'],
  [3, 1, 2, 'open'],
  [3, 1, 1, 'short'],
] as const)('bid %i with %i won and %i left is %s', (bid, tricks, left, tone) => {
  expect(toneOf(bid, tricks, left)).toBe(tone)
})

it.each([
  [3, 1, ['won', 'empty', 'empty']],
  [1, 3, ['won', 'extra', 'extra']],
  [0, 1, ['extra']],
  [0, 0, []],
  [12, 3, []], // too many for a plate
] as const)('the pips of bid %i with %i won', (bid, tricks, pips) => {
  expect(pipsOf(bid, tricks)).toEqual(pips)
})

describe('the sum of the bids', () => {
  const says = (bids: (number | null)[], cards: number, made = bids.map((bid) => bid !== null)): string =>
    bidSumSentence({ bids, bid_made: made, cards })

  it('says what it means for the tricks', () => {
    expect(says([null, null, null], 1)).toBe('1 trick to win, nobody has bid yet')
    expect(says([2, null, null], 8)).toBe('2 bid for 8 tricks, 2 bids to come')
    expect(says([2, 1, null], 8)).toBe('3 bid for 8 tricks, 1 bid to come')
    expect(says([2, 3, 2], 8)).toBe('7 bid for 8 tricks: somebody will win too many')
    expect(says([4, 3, 2], 8)).toBe('9 bid for 8 tricks: somebody will win too few')
    expect(says([1, 0, 0], 1)).toBe('1 bid for 1 trick: everybody could be right')
  })

  it('gives nothing away while bids are hidden', () => {
    expect(says([3, null, null], 8, [true, true, false])).toBe('Hidden bids: 2 of 3 are in')
  })
})

describe('a bid typed as digits', () => {
  const upTo = (last: number): number[] => Array.from({ length: last + 1 }, (_, value) => value)

  it('is made at once when nothing longer can be meant', () => {
    expect(typeDigit('', '3', upTo(9))).toEqual({ bid: 3 })
    expect(typeDigit('', '3', upTo(12))).toEqual({ bid: 3 })
  })

  it('waits for a second digit when there could be one', () => {
    expect(typeDigit('', '1', upTo(12))).toEqual({ pending: '1' })
    expect(typeDigit('1', '2', upTo(12))).toEqual({ bid: 12 })
  })

  it('starts again with a digit that fits nothing before it', () => {
    expect(typeDigit('1', '9', upTo(12))).toEqual({ bid: 9 })
  })

  it('does nothing for what is not allowed', () => {
    expect(typeDigit('', '3', [0, 1, 2])).toEqual({ nothing: true })
  })
})
