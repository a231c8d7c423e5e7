import { describe, expect, it } from 'vitest'
import type { Event, Observation } from '../protocol'
import { narrate, namesOf } from './narration'
import { lobbyOf, stateOf } from './testing'

const says = (event: Event, more: Partial<Observation> = { to_act: 2 }): string =>
  narrate(stateOf([event], more), 9)

describe('the live region', () => {
  it('speaks one sentence an event', () => {
    expect(says({ type: 'bid_made', seat: 1, value: 2 })).toBe('Merlin bids 2.')
    expect(says({ type: 'bid_made', seat: 0, value: 2 })).toBe('You bid 2.')
    expect(says({ type: 'bid_made', seat: 1, value: null })).toBe('Merlin has bid.')
    expect(says({ type: 'bids_revealed', bids: [1, 0, 2, 0] })).toBe(
      'All bids: you 1, Merlin 0, Grace 2, Circe 0.',
    )
    expect(says({ type: 'trump_chosen', seat: 2, suit: 'green' })).toBe('Grace names green as trump.')
    expect(says({ type: 'round_started', round: 1, cards: 1, dealer: 0, trump_card: 'J2' })).toBe(
      'Round 1 with 1 card each. You deal. Turned: Jester.',
    )
    expect(says({ type: 'round_scored', bids: [], tricks: [], points: [20, -10, 30, 0], scores: [] })).toBe(
      'The round is over: you +20, Merlin −10, Grace +30, Circe 0.',
    )
    expect(says({ type: 'seat_replaced', seat: 2, by: 'ai' })).toBe('An AI plays for Grace now.')
    expect(says({ type: 'host_changed', player_id: 'id-0' })).toBe('You are the host now.')
    expect(says({ type: 'reaction', seat: 1, reaction: 'laugh' })).toBe('Merlin says: Haha!')
  })

  it('says who leads, also when that trick is complete by now', () => {
    const plays = [
      { seat: 1, card: 'R7' },
      { seat: 2, card: 'W2' },
    ]
    const trick = { leader: 1, plays: plays.slice(0, 1), led: 'red' as const, winning: 1 }
    expect(narrate(stateOf([{ type: 'card_played', seat: 1, card: 'R7' }], { trick, to_act: 0 }), 9)).toBe(
      'Merlin plays red 7 and leads the trick. Your turn.',
    )
    expect(says({ type: 'card_played', seat: 2, card: 'W2' }, { trick, to_act: 2 })).toBe(
      'Grace plays Wizard.',
    )
    const events: Event[] = [
      { type: 'card_played', seat: 1, card: 'R7' },
      { type: 'card_played', seat: 2, card: 'W2' },
      { type: 'trick_completed', winner: 2, plays },
    ]
    expect(narrate(stateOf(events, { to_act: 2 }), 9)).toBe(
      'Merlin plays red 7 and leads the trick. Grace plays Wizard. Grace wins the trick.',
    )
  })

  it('says "your turn" once a turn', () => {
    const reaction: Event = { type: 'reaction', seat: 1, reaction: 'hello' }
    expect(narrate(stateOf([], { turn: 11 }), 10)).toBe('Your turn.')
    expect(narrate(stateOf([reaction], { turn: 10 }), 10)).toBe('Merlin says: Hello!')
    expect(narrate(stateOf([], { turn: 11 }, null), 10)).toBe('')
  })

  it('says where we are to somebody who comes in', () => {
    expect(narrate(stateOf([], { to_act: 1 }), null)).toBe('Round 3 of 15. Trump is red.')
  })

  it('says who wins the game', () => {
    const won = (...first: number[]): Event => ({
      type: 'game_finished',
      ranking: first.map((seat) => ({ seat, score: 10, rank: 1 })),
      seed: '',
    })
    const over: Partial<Observation> = { phase: 'finished', to_act: null }
    expect(says(won(0), over)).toBe('The game is over. You win.')
    expect(says(won(2), over)).toBe('The game is over. Grace wins.')
    expect(says(won(0, 2), over)).toBe('The game is over. Ada and Grace share the first place.')
  })

  it('keeps to the newest after a burst', () => {
    const many = Array.from({ length: 20 }, (_, value): Event => ({ type: 'bid_made', seat: 1, value }))
    expect(narrate(stateOf(many, { to_act: 2 }), 9)).toMatch(/^Merlin bids 14\. .*Merlin bids 19\.$/)
  })
})

it('lists names as one says them', () => {
  expect(namesOf(lobbyOf(), [0])).toBe('Ada')
  expect(namesOf(lobbyOf(), [0, 1, 2])).toBe('Ada, Merlin and Grace')
})
