import { expect, it } from 'vitest'
import { careerOf, standing, totalsOf } from './sheets'

const sheet = [
  { round: 1, cards: 1, bids: [0, 1], tricks: [0, 1], points: [20, 30] },
  { round: 2, cards: 2, bids: [1, 2], tricks: [2, 0], points: [-10, -20] },
  { round: 3, cards: 3, bids: [0, 3], tricks: [0, 3], points: [20, 50] },
]

it('finds everyone’s best and worst round, the earlier of equal ones, and the bids hit', () => {
  expect(careerOf(sheet, 0)).toEqual({
    best: { round: 1, points: 20 },
    worst: { round: 2, points: -10 },
    hits: 2,
    rounds: 3,
  })
  expect(careerOf(sheet, 1).best).toEqual({ round: 3, points: 50 })
  expect(careerOf([], 0)).toEqual({ best: null, worst: null, hits: 0, rounds: 0 })
})

it('adds up the totals round by round', () => {
  expect(totalsOf(sheet, 2)).toEqual([
    [20, 30],
    [10, 10],
    [30, 60],
  ])
})

it('ranks by points, equal points sharing a rank', () => {
  expect(standing([10, 40, 40, -20]).map(({ seat, rank }) => [seat, rank])).toEqual([
    [1, 1],
    [2, 1],
    [0, 3],
    [3, 4],
  ])
})
