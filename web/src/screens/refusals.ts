/**
 * Why a button would be refused, as the sentence beside it, or null: it may be pressed.
 * The server decides; this only saves people a refusal that can be foreseen.
 */
import { isCode } from '../net/address'
import type { Lobby, ServerStatus } from '../protocol'
import { texts } from '../texts'

const NAME_LENGTH = 20
const CODE_LENGTH = 6

export function whyNotName(name: string): string | null {
  const tidy = name.trim().normalize('NFC')
  if (tidy === '') return texts.start.nameMissing
  if ([...tidy].length > NAME_LENGTH) return texts.start.nameTooLong
  return /\p{Cc}/u.test(tidy) ? texts.start.nameOdd : null
}

export function whyNotNewGame(status: ServerStatus): string | null {
  if (status.accepting_games) return null
  const reason = status.reason ? texts.connection.status[status.reason] : texts.connection.notAccepting
  return status.retry_after_ms ? `${reason} ${texts.connection.tryAgainIn(status.retry_after_ms)}` : reason
}

export const whyNotCode = (code: string): string | null =>
  isCode(code) ? null : texts.start.codeShort(CODE_LENGTH - code.length)

export function whyNotStart(lobby: Lobby, isHost: boolean, status: ServerStatus): string | null {
  const missing = lobby.min_players - lobby.players.length
  if (lobby.status !== 'waiting') return texts.lobby.why.running
  if (missing > 0) return texts.lobby.why.morePlayers(missing)
  if (!isHost) return texts.lobby.why.notHost(hostName(lobby))
  if (lobby.accepting_games) return null
  return whyNotNewGame({ ...status, accepting_games: false })
}

const hostName = (lobby: Lobby): string =>
  lobby.players.find((player) => player.id === lobby.host_id)?.name ?? ''

export function whyNotAddAi(lobby: Lobby, isHost: boolean): string | null {
  if (!isHost) return texts.lobby.why.notHostAi
  return lobby.players.length >= lobby.max_players ? texts.lobby.why.full : null
}

export const whyNotTakeSeat = (lobby: Lobby, name: string): string | null =>
  whyNotName(name) ?? (lobby.players.length >= lobby.max_players ? texts.lobby.why.full : null)
