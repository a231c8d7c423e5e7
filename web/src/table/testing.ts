/** Small tables for this folder's tests. */
import type { Event, Game, Lobby, Observation, State } from '../protocol'

const names = ['Ada', 'Merlin', 'Grace', 'Circe']

export function lobbyOf(more: Partial<Lobby> = {}): Lobby {
  return {
    code: 'K7MWQX',
    status: 'playing',
    host_id: 'id-0',
    options: { hidden_bids: false, bid_rule: 'free', length: 'full', turn_seconds: null },
    public: false,
    players: names.map((name, seat) => ({
      id: `id-${seat}`,
      name,
      is_ai: seat === 1,
      connected: true,
      replaceable: false,
    })),
    spectators: 0,
    min_players: 3,
    max_players: 6,
    ai_available: true,
    accepting_games: true,
    saved: true,
    ...more,
  }
}

export function observationOf(more: Partial<Observation> = {}): Observation {
  return {
    turn: 10,
    round: 3,
    rounds: 15,
    cards: 3,
    phase: 'play',
    dealer: 3,
    to_act: 0,
    deadline_ms: null,
    hand: ['B2', 'R9', 'W1'],
    trump: { card: 'R6', suit: 'red' },
    bids: [1, 1, 0, 1],
    bid_made: [true, true, true, true],
    tricks: [0, 0, 0, 0],
    trick: { leader: 0, plays: [], led: null, winning: null },
    last_trick: null,
    scores: [0, 0, 0, 0],
    sheet: [],
    legal_actions: [],
    forbidden: [],
    ranking: null,
    ...more,
  }
}

export function gameOf(more: Partial<Observation> = {}, you: number | null = 0): Game {
  return { you, deal_commitment: '', seed: null, observation: observationOf(more) }
}

export function stateOf(events: Event[], more: Partial<Observation> = {}, you: number | null = 0): State {
  return { seq: 1, lobby: lobbyOf(), game: gameOf(more, you), events }
}
