/**
 * What the server and this client say to each other, as types: generated from the server's own, under the
 * names that the client uses. Only shapes; nothing here checks or sends anything.
 */
import type { GameView } from './protocol/GameView'
import type { LobbyView } from './protocol/LobbyView'
import type { PlayerMessage } from './protocol/PlayerMessage'
import type { PlayerView } from './protocol/PlayerView'
import type { RankingRow } from './protocol/RankingRow'
import type { ServerMessage as AnyServerMessage } from './protocol/ServerMessage'
import type { SheetRow } from './protocol/SheetRow'
import type { TimedObservation } from './protocol/TimedObservation'
import type { TrickView } from './protocol/TrickView'

export type { Action } from './protocol/Action'
export type { AiLevel } from './protocol/AiLevel'
export type { Card } from './protocol/Card'
export type { ErrorCode } from './protocol/ErrorCode'
export type { Event } from './protocol/Event'
export type { Forbidden } from './protocol/Forbidden'
export type { LastTrick } from './protocol/LastTrick'
export type { LobbyStatus } from './protocol/LobbyStatus'
export type { Options } from './protocol/Options'
export type { Phase } from './protocol/Phase'
export type { Reaction } from './protocol/Reaction'
export type { ServerStatus } from './protocol/ServerStatus'
export type { State } from './protocol/State'
export type { StatusReason } from './protocol/StatusReason'
export type { Suit } from './protocol/Suit'
export type { TrickPlay } from './protocol/TrickPlay'

export type Game = GameView
export type Lobby = LobbyView
export type Observation = TimedObservation
export type Player = PlayerView
export type RankingEntry = RankingRow
export type SheetRound = SheetRow
export type Trick = TrickView

/** What a message says, without its `id`. */
export type ClientCommand = PlayerMessage

/** `id`: up to 64 characters; an error of this message repeats it. */
export type ClientMessage = ClientCommand & { id?: string }

type Complete<Type extends AnyServerMessage['type']> = Extract<AnyServerMessage, { type: Type }>

export type Welcome = Complete<'welcome'>
export type ErrorMessage = Complete<'error'>

/** As it travels: with `partial`, `lobby`, `sheet` and `last_trick` only when they have changed. */
export type StateMessage = Omit<Complete<'state'>, 'lobby' | 'game'> & {
  lobby?: Lobby | null
  game: PartialGame | null
}

type PartialGame = Omit<Game, 'observation'> & {
  observation: Omit<Observation, 'sheet' | 'last_trick'> & Partial<Pick<Observation, 'sheet' | 'last_trick'>>
}

export type ServerMessage = Exclude<AnyServerMessage, { type: 'state' }> | StateMessage

/** What the connection is doing, as far as the table and its surroundings need to know. */
export type ConnectionFace = 'connecting' | 'live' | 'reconnecting' | 'stopped'
