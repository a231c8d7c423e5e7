/** What the server offers this player now, sorted by kind, and why the rest is not possible. */
import type { Card, Game, Lobby, Observation, Suit } from '../protocol'
import { texts } from '../texts'
import { nameOfSeat } from './seatview'

export type Choices = {
  /** Null while no card is to be played. */
  cards: Set<Card> | null
  bids: number[]
  forbiddenBids: number[]
  suits: Suit[]
}

export function choicesOf({ legal_actions, forbidden }: Observation): Choices {
  const cards = legal_actions.flatMap((action) => (action.type === 'play' ? [action.card] : []))
  return {
    cards: cards.length > 0 ? new Set(cards) : null,
    bids: legal_actions.flatMap((action) => (action.type === 'bid' ? [action.value] : [])),
    forbiddenBids: forbidden.flatMap((entry) => ('value' in entry ? [entry.value] : [])),
    suits: legal_actions.flatMap((action) => (action.type === 'choose_trump' ? [action.suit] : [])),
  }
}

/** One sentence for somebody who has tried what is not possible now. */
export function refusalOf(
  thing: { card: Card } | { value: number },
  lobby: Lobby,
  { you, observation }: Game,
  busy: boolean,
): string {
  const words = texts.table.refused
  const { to_act, phase, cards, forbidden, trick } = observation
  if (to_act === null) return words.over
  if (busy) return words.wait
  if ('value' in thing) return words.bid(thing.value, cards, lobby.options.bid_rule)
  if (phase === 'choose_trump') return words.trumpFirst
  if (phase === 'bid') return words.bidFirst
  if (to_act !== you) return words.notYourTurn(nameOfSeat(lobby, to_act))
  const entry = forbidden.find((other) => 'card' in other && other.card === thing.card)
  return entry?.reason === 'must_follow' && trick.led !== null ? words.follow(trick.led) : words.card
}
