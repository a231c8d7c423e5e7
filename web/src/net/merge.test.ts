import { describe, expect, it } from 'vitest'
import type { StateMessage } from '../protocol'
import { Merger } from './merge'

const lobby = { code: 'ABC234' }
const trick = { winner: 1, plays: [] }

const message = (parts: object): StateMessage =>
  ({ type: 'state', seq: 1, game: null, events: [], ...parts }) as unknown as StateMessage

const game = (observation: object): object => ({
  game: { you: 0, deal_commitment: 'c', seed: null, observation: { turn: 1, ...observation } },
})

describe('partial states', () => {
  it('keeps the lobby until it is sent again, and takes null as a value', () => {
    const merger = new Merger()
    expect(merger.complete(message({ lobby })).lobby).toEqual(lobby)
    expect(merger.complete(message({})).lobby).toEqual(lobby)
    expect(merger.complete(message({ lobby: null })).lobby).toBeNull()
    expect(merger.complete(message({})).lobby).toBeNull()
  })

  it('keeps sheet and last trick, and takes null and empty as values', () => {
    const merger = new Merger()
    const sheet = [{ round: 1 }]
    merger.complete(message(game({ sheet, last_trick: trick })))
    const later = merger.complete(message(game({ turn: 2 }))).game?.observation
    expect(later).toEqual({ turn: 2, sheet, last_trick: trick })
    const cleared = merger.complete(message(game({ sheet: [], last_trick: null }))).game?.observation
    expect(cleared).toMatchObject({ sheet: [], last_trick: null })
  })

  it('remembers them over a moment without a game', () => {
    const merger = new Merger()
    merger.complete(message(game({ sheet: [{ round: 1 }], last_trick: trick })))
    merger.complete(message({ lobby: null }))
    expect(merger.complete(message(game({}))).game?.observation.last_trick).toEqual(trick)
  })

  it('leaves the message itself alone', () => {
    const merger = new Merger()
    const first = message(game({}))
    merger.complete(first)
    expect(first.game?.observation).toEqual({ turn: 1 })
  })
})
