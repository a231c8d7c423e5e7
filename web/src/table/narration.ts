/** What happens, as sentences for a live region: one an event, and at the end whether it is one's turn. */
import type { Event, Game, Lobby, State, TrickPlay } from '../protocol'
import { texts } from '../texts'
import type { Who } from '../texts/table'
import { nameOf } from './cards'
import { nameOfSeat, whoIs } from './seatview'

/** After a burst only the newest are worth hearing. */
const mostSentences = 6

type Seated = { lobby: Lobby; game: Game; events: Event[] }

/** `turnBefore`: the observation's `turn` in the state before, null for the first one. */
export function narrate(state: State, turnBefore: number | null): string {
  const { lobby, game, events } = state
  if (lobby === null || game === null) return ''
  const seated = { lobby, game, events }
  const sentences = events.map((event) => sentenceOf(event, seated)).filter((sentence) => sentence !== '')
  if (turnBefore === null && sentences.length === 0) sentences.push(whereWeAre(game))
  const { observation, you } = game
  if (you !== null && observation.to_act === you && observation.turn !== turnBefore) {
    sentences.push(texts.table.says.yourTurn)
  }
  return sentences.slice(-mostSentences).join(' ')
}

function whereWeAre({ observation }: Game): string {
  const { round, trump } = texts.table
  const suit = observation.trump.suit
  return `${round.label(observation.round, observation.rounds)}. ${suit === null ? trump.none : trump.is(suit)}.`
}

function sentenceOf(event: Event, seated: Seated): string {
  const { lobby, game } = seated
  const says = texts.table.says
  const who = (seat: number): Who => whoIs(lobby, game.you, seat)
  switch (event.type) {
    case 'game_started':
      return says.gameStarted
    case 'round_started': {
      const turned = event.trump_card === null ? says.nothingTurned : says.turned(nameOf(event.trump_card))
      return `${says.roundStarted(event.round, event.cards, who(event.dealer))} ${turned}`
    }
    case 'trump_chosen':
      return says.trumpChosen(who(event.seat), event.suit)
    case 'bid_made':
      return event.value === null ? says.hiddenBid(who(event.seat)) : says.bid(who(event.seat), event.value)
    case 'bids_revealed':
      return says.bidsRevealed(listOf(event.bids, (bid, seat) => says.bidOf(who(seat), bid)))
    case 'card_played': {
      const name = nameOf(event.card)
      return leads(event, seated)
        ? says.playedFirst(who(event.seat), name)
        : says.played(who(event.seat), name)
    }
    case 'trick_completed':
      return says.trickWon(who(event.winner))
    case 'round_scored':
      return says.roundScored(listOf(event.points, (points, seat) => says.pointsOf(who(seat), points)))
    case 'game_finished':
      return finished(event, seated)
    case 'seat_replaced':
      return says.replaced[event.by](nameOfSeat(lobby, event.seat))
    case 'host_changed': {
      const seat = lobby.players.findIndex(({ id }) => id === event.player_id)
      return seat < 0 ? '' : says.host(who(seat))
    }
    case 'reaction':
      return says.reaction(who(event.seat), event.reaction)
  }
}

function listOf(numbers: number[], say: (number: number, seat: number) => string): string {
  return numbers.map(say).join(', ')
}

/** Whether this was the first card of its trick, wherever that trick is by now. */
function leads(played: TrickPlay, { game, events }: Seated): boolean {
  const { trick, last_trick } = game.observation
  const completed = events.flatMap((event) => (event.type === 'trick_completed' ? [event.plays] : []))
  return [trick.plays, last_trick?.plays ?? [], ...completed].some(
    ([first]) => first !== undefined && first.seat === played.seat && first.card === played.card,
  )
}

function finished(event: Extract<Event, { type: 'game_finished' }>, { lobby, game }: Seated): string {
  const first = event.ranking.filter(({ rank }) => rank === 1).map(({ seat }) => seat)
  const says = texts.table.says
  if (first.length === 1 && first[0] === game.you) return says.youWon
  return says.gameFinished(namesOf(lobby, first), first.length === 1)
}

/** `Ada, Merlin and Circe`. */
export function namesOf(lobby: Lobby, seats: number[]): string {
  const names = seats.map((seat) => nameOfSeat(lobby, seat))
  const last = names.pop() ?? ''
  return names.length === 0 ? last : `${names.join(', ')} ${texts.table.end.and} ${last}`
}
