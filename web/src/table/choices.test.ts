import { describe, expect, it } from 'vitest'
import type { Observation } from '../protocol'
import { choicesOf, refusalOf } from './choices'
import { promptOf } from './prompt'
import { seatViews, spokenSeat } from './seatview'
import { gameOf, lobbyOf, observationOf } from './testing'

const lobby = lobbyOf()

describe('what may be done', () => {
  it('is what the server offers, by kind', () => {
    const choices = choicesOf(
      observationOf({
        legal_actions: [
          { type: 'bid', value: 0 },
          { type: 'bid', value: 2 },
        ],
        forbidden: [{ value: 1, reason: 'bid_rule' }],
      }),
    )
    expect(choices).toEqual({ cards: null, bids: [0, 2], forbiddenBids: [1], suits: [] })
    const playing = choicesOf(observationOf({ legal_actions: [{ type: 'play', card: 'B2' }] }))
    expect(playing.cards).toEqual(new Set(['B2']))
  })
})

describe('why not', () => {
  const why = (card: string, more: Partial<Observation>, busy = false): string =>
    refusalOf({ card }, lobby, gameOf(more), busy)

  it('names the suit that has to be followed', () => {
    const trick = { leader: 1, plays: [{ seat: 1, card: 'B5' }], led: 'blue' as const, winning: 1 }
    expect(why('R9', { trick, forbidden: [{ card: 'R9', reason: 'must_follow' }] })).toBe(
      'You have blue: follow it, or play a Wizard or a Jester.',
    )
  })

  it('names who is to act, or what comes first', () => {
    expect(why('R9', { to_act: 1 })).toBe('It is Merlin’s turn.')
    expect(why('R9', { phase: 'bid' })).toBe('First everybody bids, then the cards are played.')
    expect(why('R9', { phase: 'choose_trump' })).toBe('First the trump is named, then everybody bids.')
    expect(why('R9', { to_act: null })).toBe('The game is over.')
    expect(why('R9', {}, true)).toBe('One moment: your last move is on its way.')
  })

  it('explains a forbidden bid by the table’s rule', () => {
    const bid = (bid_rule: 'hook' | 'canadian'): string =>
      refusalOf(
        { value: 1 },
        lobbyOf({ options: { ...lobby.options, bid_rule } }),
        gameOf({ phase: 'bid' }),
        false,
      )
    expect(bid('hook')).toBe('Not 1: the last bid may not make the bids add up to 3.')
    expect(bid('canadian')).toBe('Not 1: a dealer in the lead may not make the bids add up to 3.')
  })
})

describe('the prompt', () => {
  const prompt = (more: Partial<Observation>, table = lobby, sent = false) =>
    promptOf(table, gameOf(more), sent)

  it('asks whoever is to act', () => {
    const trick = { leader: 1, plays: [{ seat: 1, card: 'B5' }], led: 'blue' as const, winning: 1 }
    expect(prompt({ trick })).toEqual({ text: 'Your turn: blue is led', yours: true })
    expect(prompt({})).toEqual({ text: 'Your turn: lead any card', yours: true })
    expect(prompt({ phase: 'bid' }).text).toBe('Your turn: bid')
    expect(prompt({ phase: 'choose_trump' }).text).toBe('Your turn: name the trump')
    expect(prompt({}, lobby, true)).toEqual({ text: 'Playing …', yours: false })
  })

  it('says who else is waited for, and how', () => {
    const trick = { leader: 0, plays: [{ seat: 0, card: 'B5' }], led: 'blue' as const, winning: 0 }
    expect(prompt({ to_act: 1, trick }).text).toBe('Merlin is thinking')
    expect(prompt({ to_act: 2, trick }).text).toBe('Waiting for Grace')
    expect(prompt({ to_act: 2 }).text).toBe('Grace leads the next trick')
    expect(prompt({ to_act: 2, phase: 'bid' }).text).toBe('Grace is bidding')
    const away = lobbyOf({
      players: lobby.players.map((player, seat) => (seat === 2 ? { ...player, connected: false } : player)),
    })
    expect(prompt({ to_act: 2 }, away).text).toBe('Grace is offline, the game waits')
    expect(prompt({ to_act: null, phase: 'finished' }).text).toBe('')
  })
})

describe('a plate', () => {
  it('is spoken as one sentence', () => {
    const [, merlin, grace] = seatViews(
      lobby,
      gameOf({ to_act: 1, dealer: 1, tricks: [0, 1, 0, 0], bids: [1, 1, null, 0], scores: [0, 40, -10, 0] }),
    )
    expect(merlin && spokenSeat(merlin)).toBe('Merlin, to act, Dealer, AI, bid 1, 1 trick won, 40 points')
    expect(grace && spokenSeat(grace)).toBe('Grace, bid hidden, 0 tricks won, −10 points')
  })

  it('keeps the round that has just ended in sight until the next bid', () => {
    const roundEnd = {
      ...{ round: 2, plays: [], winner: 1, points: [40, -10, 20, -20] },
      ...{ bids: [2, 1, 0, 2], tricks: [2, 0, 0, 0] },
    }
    const bidding: Partial<Observation> = { phase: 'bid', tricks: [0, 0, 0, 0] }
    const [ada, merlin] = seatViews(
      lobby,
      gameOf({ ...bidding, bids: [null, 3, null, null], bid_made: [false, true, false, false] }),
      roundEnd,
    )
    expect(ada).toMatchObject({ playing: true, bid: 2, tricks: 2, tone: 'exact' })
    expect(merlin).toMatchObject({ playing: false, bid: 3, tricks: 0, tone: 'open' })
  })

  it('lets only the host replace whoever is gone for long', () => {
    const gone = lobbyOf({
      players: lobby.players.map((player, seat) => (seat === 2 ? { ...player, replaceable: true } : player)),
    })
    expect(seatViews(gone, gameOf())[2]?.replaceable).toBe(true)
    expect(seatViews(gone, gameOf({}, 3))[2]?.replaceable).toBe(false)
    expect(seatViews(gone, gameOf({}, null))[2]?.replaceable).toBe(false)
  })
})
