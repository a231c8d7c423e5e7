/**
 * What the server and this client say to each other, as types.
 *
 * Only shapes: nothing here checks or sends anything. The truth is the contract in `docs/`; a field
 * may be added there, none renamed or removed, so an unknown one is never an error.
 */

export type Suit = 'blue' | 'green' | 'red' | 'yellow'

/** `B1`…`B13`, `G…`, `R…`, `Y…`, `W1`…`W4` (Wizards), `J1`…`J4` (Jesters). */
export type Card = string

export type AiLevel = 'easy' | 'normal' | 'hard'
export type LobbyStatus = 'waiting' | 'playing' | 'finished'
export type Phase = 'choose_trump' | 'bid' | 'play' | 'finished'

export type Reaction = 'well_played' | 'oops' | 'thinking' | 'hurry' | 'laugh' | 'angry' | 'thanks' | 'hello'

export type Options = {
  hidden_bids: boolean
  bid_rule: 'free' | 'hook' | 'canadian'
  length: 'full' | 'tournament' | 'short'
  /** 10 to 300, or null: the game waits. */
  turn_seconds: number | null
}

export type Action =
  { type: 'choose_trump'; suit: Suit } | { type: 'bid'; value: number } | { type: 'play'; card: Card }

/** Why something that one might expect is not possible now. */
export type ForbiddenReason = 'must_follow' | 'bid_rule'
export type Forbidden = { card: Card; reason: ForbiddenReason } | { value: number; reason: ForbiddenReason }

export type Player = {
  id: string
  name: string
  is_ai: boolean
  connected: boolean
  /** The host may put an AI in this seat: offline for long enough. */
  replaceable: boolean
  level?: AiLevel | null
}

export type Lobby = {
  code: string
  status: LobbyStatus
  host_id: string
  options: Options
  public: boolean
  /** The position is the seat number and never changes during a game. */
  players: Player[]
  spectators: number
  min_players: number
  max_players: number
  ai_available: boolean
  /** Some node takes a new game. */
  accepting_games: boolean
  /** False while moves could still be lost. */
  saved: boolean
}

export type TrickPlay = { seat: number; card: Card }

export type Trick = {
  leader: number
  plays: TrickPlay[]
  led: Suit | null
  winning: number | null
}

export type LastTrick = Trick & { winner: number }

export type SheetRound = {
  round: number
  cards: number
  bids: number[]
  tricks: number[]
  points: number[]
}

export type RankingEntry = { seat: number; score: number; rank: number }

/** What one seat, or a spectator, may see of the game. */
export type Observation = {
  /** Number of actions accepted so far in this game. */
  turn: number
  /** From 1. */
  round: number
  rounds: number
  /** Hand size of this round. */
  cards: number
  phase: Phase
  dealer: number
  to_act: number | null
  /** Left for `to_act`, or null. */
  deadline_ms: number | null
  hand: Card[]
  trump: { card: Card | null; suit: Suit | null }
  bids: (number | null)[]
  bid_made: boolean[]
  tricks: number[]
  trick: Trick
  last_trick: LastTrick | null
  scores: number[]
  sheet: SheetRound[]
  legal_actions: Action[]
  forbidden: Forbidden[]
  ranking: RankingEntry[] | null
}

export type Game = {
  /** Own seat, null for a spectator. */
  you: number | null
  deal_commitment: string
  /** Null until the game has finished. */
  seed: string | null
  observation: Observation
}

export type Event =
  | { type: 'game_started'; deal_commitment: string }
  | { type: 'round_started'; round: number; cards: number; dealer: number; trump_card: Card | null }
  | { type: 'trump_chosen'; seat: number; suit: Suit }
  | { type: 'bid_made'; seat: number; value: number | null }
  | { type: 'bids_revealed'; bids: number[] }
  | { type: 'card_played'; seat: number; card: Card }
  | { type: 'trick_completed'; winner: number; plays: TrickPlay[] }
  | { type: 'round_scored'; bids: number[]; tricks: number[]; points: number[]; scores: number[] }
  | { type: 'game_finished'; ranking: RankingEntry[]; seed: string }
  | { type: 'seat_replaced'; seat: number; by: 'ai' | 'player' }
  | { type: 'host_changed'; player_id: string }
  | { type: 'reaction'; seat: number; reaction: Reaction }

/** A full picture: partial ones are completed before anybody else sees them. */
export type State = {
  seq: number
  lobby: Lobby | null
  game: Game | null
  events: Event[]
}

export type StatusReason = 'moving' | 'redis_away' | 'overloaded' | 'full'

export type ServerStatus = {
  level: 'normal' | 'busy' | 'overloaded'
  accepting_games: boolean
  reason: StatusReason | null
  retry_after_ms: number | null
}

export type ErrorCode =
  | 'invalid_message'
  | 'hello_required'
  | 'rate_limited'
  | 'busy'
  | 'unavailable'
  | 'lobby_not_found'
  | 'lobby_full'
  | 'lobby_playing'
  | 'not_in_lobby'
  | 'not_host'
  | 'not_waiting'
  | 'not_playing'
  | 'not_finished'
  | 'not_enough_players'
  | 'player_not_found'
  | 'player_present'
  | 'not_your_turn'
  | 'illegal_action'
  | 'stale_turn'
  | 'bad_option'
  | 'spectator'
  | 'removed'
  | 'taken_over'
  | 'lobby_lost'
  | 'internal'

/** What a message says, without its `id`. */
export type ClientCommand =
  | { type: 'hello'; token: string | null; partial?: boolean }
  | { type: 'create_lobby'; name: string }
  | { type: 'join_lobby'; code: string; name: string }
  | { type: 'quick_play'; name: string }
  | { type: 'watch_lobby'; code: string }
  | { type: 'leave_lobby' }
  | { type: 'add_ai'; level?: AiLevel }
  | { type: 'remove_player'; player_id: string }
  | ({ type: 'set_options'; public?: boolean } & Partial<Options>)
  | { type: 'start_game' }
  | { type: 'action'; action: Action; turn?: number }
  | { type: 'replace_player'; player_id: string }
  | { type: 'react'; reaction: Reaction }
  | { type: 'return_to_lobby' }
  | { type: 'ping'; nonce?: string }

/** `id`: up to 64 characters; an error of this message repeats it. */
export type ClientMessage = ClientCommand & { id?: string }

export type Welcome = {
  type: 'welcome'
  player_id: string
  token: string
  name: string | null
  reconnect_within_ms: number
}

export type ErrorMessage = {
  type: 'error'
  code: ErrorCode
  message: string
  id?: string | null
  retry_after_ms?: number | null
}

/** As it travels: with `partial`, `lobby`, `sheet` and `last_trick` only when they have changed. */
export type StateMessage = {
  type: 'state'
  seq: number
  lobby?: Lobby | null
  game:
    | (Omit<Game, 'observation'> & {
        observation: Omit<Observation, 'sheet' | 'last_trick'> &
          Partial<Pick<Observation, 'sheet' | 'last_trick'>>
      })
    | null
  events: Event[]
}

export type ServerMessage =
  | Welcome
  | ({ type: 'server_status' } & ServerStatus)
  | StateMessage
  | ErrorMessage
  | { type: 'pong'; nonce?: string | null }

/** What the connection is doing, as far as the table and its surroundings need to know. */
export type ConnectionFace = 'connecting' | 'live' | 'reconnecting' | 'stopped'
