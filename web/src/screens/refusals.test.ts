import { describe, expect, it } from 'vitest'
import type { Lobby, Player, ServerStatus } from '../protocol'
import { texts } from '../texts'
import { whyNotAddAi, whyNotCode, whyNotName, whyNotNewGame, whyNotStart } from './refusals'

const status: ServerStatus = { level: 'normal', accepting_games: true, reason: null, retry_after_ms: null }

function lobby(seats: number, more: Partial<Lobby> = {}): Lobby {
  const players = Array.from({ length: seats }, (_, seat): Player => {
    return { id: `p${seat}`, name: `Name ${seat}`, is_ai: false, connected: true, replaceable: false }
  })
  return {
    code: 'ABC234',
    status: 'waiting',
    host_id: 'p0',
    options: { hidden_bids: false, bid_rule: 'free', length: 'full', turn_seconds: null },
    public: false,
    players,
    spectators: 0,
    min_players: 3,
    max_players: 6,
    ai_available: true,
    accepting_games: true,
    saved: true,
    ...more,
  }
}

describe('a name', () => {
  it.each(['A', '  Ada  ', 'x'.repeat(20), '🧙'.repeat(20), 'e\u0301'.repeat(20)])('may be %j', (name) => {
    expect(whyNotName(name)).toBeNull()
  })

  it.each([
    ['', texts.start.nameMissing],
    ['   ', texts.start.nameMissing],
    ['x'.repeat(21), texts.start.nameTooLong],
    ['a\u0007b', texts.start.nameOdd],
  ])('may not be %j', (name, why) => {
    expect(whyNotName(name)).toBe(why)
  })
})

describe('the start button', () => {
  it.each([
    [1, '2 more players.'],
    [2, 'One more player.'],
    [3, null],
    [6, null],
  ])('with %d seats taken', (seats, why) => {
    expect(whyNotStart(lobby(seats), true, status)).toBe(why)
  })

  it('is the host’s', () => {
    expect(whyNotStart(lobby(3), false, status)).toBe(texts.lobby.why.notHost('Name 0'))
  })

  it('says why no node takes a game', () => {
    const refused = lobby(3, { accepting_games: false })
    expect(whyNotStart(refused, true, { ...status, reason: 'overloaded', retry_after_ms: 2_000 })).toBe(
      `${texts.connection.status.overloaded} ${texts.connection.tryAgainIn(2_000)}`,
    )
    expect(whyNotStart(refused, true, status)).toBe(texts.connection.notAccepting)
  })
})

describe('other buttons', () => {
  it('open a table only while some node accepts', () => {
    expect(whyNotNewGame(status)).toBeNull()
    const away: ServerStatus = { ...status, accepting_games: false, reason: 'redis_away' }
    expect(whyNotNewGame(away)).toBe(texts.connection.status.redis_away)
  })

  it('add an AI only while a seat is free', () => {
    expect(whyNotAddAi(lobby(5), true)).toBeNull()
    expect(whyNotAddAi(lobby(6), true)).toBe(texts.lobby.why.full)
    expect(whyNotAddAi(lobby(1), false)).toBe(texts.lobby.why.notHostAi)
  })

  it('count what is missing of a code', () => {
    expect(whyNotCode('ABC234')).toBeNull()
    expect(whyNotCode('ABC23')).toBe('1 character to go.')
    expect(whyNotCode('')).toBe('6 characters to go.')
  })
})
