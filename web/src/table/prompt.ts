/** The one sentence above the hand: what is asked of whom. */
import type { Game, Lobby } from '../protocol'
import { texts } from '../texts'
import { nameOfSeat } from './seatview'
import type { ShownTrick } from './tricks'

export type Prompt = { text: string; yours: boolean }

export function promptOf(lobby: Lobby, { you, observation }: Game, sent: boolean): Prompt {
  const words = texts.table.turn
  const { to_act, phase, trick } = observation
  if (to_act === null) return { text: '', yours: false }
  if (to_act === you) {
    if (sent) return { text: words.sent, yours: false }
    if (phase === 'bid') return { text: words.yourBid, yours: true }
    if (phase === 'choose_trump') return { text: words.yourTrump, yours: true }
    if (trick.plays.length === 0) return { text: words.yourLead, yours: true }
    return { text: trick.led === null ? words.yourCard : words.yourFollow(trick.led), yours: true }
  }
  const player = lobby.players[to_act]
  const name = nameOfSeat(lobby, to_act)
  const text = (): string => {
    if (player !== undefined && !player.is_ai && !player.connected) return words.offline(name)
    if (phase === 'choose_trump') return words.naming(name)
    if (phase === 'bid') return words.bidding(name)
    if (trick.plays.length === 0) return words.leading(name)
    return player?.is_ai ? words.thinking(name) : words.waiting(name)
  }
  return { text: text(), yours: false }
}

/** What the trick on the table says: its winner, or what is led. Empty before its first card. */
export function trickSentence(shown: ShownTrick, lobby: Lobby, you: number | null): string {
  const words = texts.table.trick
  if (shown.plays.length === 0 || shown.winning === null) return ''
  const who = { name: nameOfSeat(lobby, shown.winning), you: shown.winning === you }
  if (shown.finished) return words.won(who)
  const winning = shown.plays.length > 1 ? ` · ${words.winning(who)}` : ''
  return `${shown.led === null ? words.noSuit : words.led(shown.led)}${winning}`
}
