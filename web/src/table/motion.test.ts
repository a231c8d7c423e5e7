import { expect, it } from 'vitest'
import type { Event } from '../protocol'
import { dealDelay, longestDealMs, motionOf, reactionsIn } from './motion'
import { stateOf } from './testing'
import { shownTrick } from './tricks'
import { observationOf } from './testing'

const played = (seat: number): Event => ({ type: 'card_played', seat, card: 'B1' })
const plays = [
  { seat: 1, card: 'G7' },
  { seat: 2, card: 'J1' },
]
const started: Event = { type: 'round_started', round: 4, cards: 4, dealer: 2, trump_card: 'B3' }

it('follows one card, and jumps over a burst', () => {
  expect(motionOf([played(1)], 3, 800).jump).toBe(false)
  expect(motionOf([played(1), played(2), played(3)], 3, 800).jump).toBe(true)
  expect(motionOf([played(1)], 3, 20).jump).toBe(true)
  expect(motionOf([], null, 0).jump).toBe(true)
  expect(motionOf([started, started], 3, 800).jump).toBe(true)
})

it('deals a new hand from its dealer', () => {
  expect(motionOf([started], 3, 800).dealtBy).toBe(2)
  expect(motionOf([played(1)], 3, 800).dealtBy).toBeNull()
  expect(motionOf([{ type: 'game_started', deal_commitment: '' }, started], null, 0).dealtBy).toBe(2)
  expect(motionOf([started], null, 0).dealtBy).toBeNull()
})

it('keeps the last trick and the points of a round that is over', () => {
  const events: Event[] = [
    played(2),
    { type: 'trick_completed', winner: 1, plays },
    { type: 'round_scored', bids: [1], tricks: [1], points: [30], scores: [30] },
    started,
  ]
  expect(motionOf(events, 3, 800).roundEnd).toEqual({
    round: 3,
    plays,
    bids: [1],
    tricks: [1],
    winner: 1,
    points: [30],
  })
  expect(motionOf(events.slice(0, 2), 3, 800).roundEnd).toBeNull()
})

it('deals 40 ms a card, and never longer than it takes to read the hand', () => {
  expect(dealDelay(3, 5)).toBe(120)
  expect(dealDelay(19, 20)).toBe(longestDealMs)
})

it('shows each seat’s newest reaction', () => {
  const state = stateOf([
    { type: 'reaction', seat: 1, reaction: 'oops' },
    played(2),
    { type: 'reaction', seat: 1, reaction: 'thanks' },
  ])
  expect(reactionsIn(state).map(({ seat, reaction }) => [seat, reaction])).toEqual([[1, 'thanks']])
})

it('shows the trick being played, else the finished one at rest', () => {
  const lastTrick = { leader: 1, plays, led: 'green' as const, winner: 1 }
  const trick = { leader: 1, plays: [{ seat: 1, card: 'Y2' }], led: 'yellow' as const, winning: 1 }
  expect(shownTrick(observationOf({ trick, last_trick: lastTrick }), null)).toMatchObject({
    plays: trick.plays,
    finished: false,
  })
  expect(shownTrick(observationOf({ last_trick: lastTrick }), null)).toMatchObject({
    plays,
    winning: 1,
    finished: true,
  })
  const roundEnd = { round: 2, plays, winner: 2, bids: [], tricks: [], points: [] }
  expect(shownTrick(observationOf(), roundEnd)).toMatchObject({ round: 2, winning: 2, finished: true })
  expect(shownTrick(observationOf(), null)).toMatchObject({ plays: [], finished: false })
})
