import { expect, it } from 'vitest'
import { lastRoundSentence, pointsFrom } from './points'
import { gameOf } from './testing'

it.each([
  [2, 2, 40, '20 + 2 × 10 = 40'],
  [0, 0, 20, '20'],
  [3, 1, -20, '2 off, −20'],
  [0, 1, -10, '1 off, −10'],
])('a bid of %i with %i won', (bid, won, points, says) => {
  expect(pointsFrom(bid, won, points)).toBe(says)
})

it('says how the last round went until the first card of the next', () => {
  const sheet = [{ round: 2, cards: 2, bids: [1, 0, 0, 1], tricks: [1, 1, 0, 0], points: [30, -10, 20, -10] }]
  const says = (phase: 'bid' | 'play', you: number | null, rows = sheet): string =>
    lastRoundSentence(gameOf({ phase, sheet: rows }, you))
  expect(says('bid', 0)).toBe('You bid 1 and won 1: 20 + 1 × 10 = 30 points')
  expect(says('bid', 3)).toBe('You bid 1 and won 0: 1 off, −10 points')
  expect(says('play', 0)).toBe('')
  expect(says('bid', null)).toBe('')
  expect(says('bid', 0, [])).toBe('')
})
