/** What a seat's plate shows, drawn together from the lobby and the observation. */
import type { AiLevel, Game, Lobby } from '../protocol'
import { texts } from '../texts'
import type { Who } from '../texts/table'
import type { RoundEnd } from './tricks'
import { pipsOf, toneOf, tricksLeft, type Pip, type Tone } from './bids'

export type SeatView = {
  seat: number
  id: string
  name: string
  you: boolean
  ai: boolean
  level: AiLevel
  offline: boolean
  /** The host may put an AI here now. */
  replaceable: boolean
  dealer: boolean
  acting: boolean
  /** Null: not yet, or hidden. */
  bid: number | null
  bidHidden: boolean
  /** The tricks count: cards are being played, or have just been. */
  playing: boolean
  tricks: number
  tone: Tone
  pips: Pip[]
  score: number
}

export function nameOfSeat(lobby: Lobby, seat: number): string {
  return lobby.players[seat]?.name ?? String(seat + 1)
}

/** The subject of a sentence about this seat. */
export function whoIs(lobby: Lobby, you: number | null, seat: number): Who {
  return { name: nameOfSeat(lobby, seat), you: seat === you }
}

/** `roundEnd`: the round that has just ended, kept in sight at each seat until it bids again. */
export function seatViews(lobby: Lobby, game: Game, roundEnd: RoundEnd | null = null): SeatView[] {
  const { observation, you } = game
  const left = tricksLeft(observation.cards, observation.tricks)
  const beforeTricks = observation.phase === 'bid' || observation.phase === 'choose_trump'
  const iAmHost = you !== null && lobby.players[you]?.id === lobby.host_id
  return lobby.players.map((player, seat) => {
    const before = beforeTricks && observation.bid_made[seat] !== true ? roundEnd : null
    const { bids, tricks: won } = before ?? observation
    const bid = bids[seat] ?? null
    const tricks = won[seat] ?? 0
    const playing = !beforeTricks || before !== null
    return {
      seat,
      id: player.id,
      name: player.name,
      you: seat === you,
      ai: player.is_ai,
      level: player.level ?? 'normal',
      offline: !player.is_ai && !player.connected,
      replaceable: iAmHost && player.replaceable,
      dealer: observation.dealer === seat,
      acting: observation.to_act === seat,
      bid,
      bidHidden: bid === null && observation.bid_made[seat] === true,
      playing,
      tricks,
      tone: bid === null || !playing ? 'open' : toneOf(bid, tricks, before === null ? left : 0),
      pips: bid === null ? [] : pipsOf(bid, tricks),
      score: observation.scores[seat] ?? 0,
    }
  })
}

/** All that a plate shows, as one sentence for those who can't see it. */
export function spokenSeat(view: SeatView): string {
  const words = texts.table.seat
  const parts = [view.you ? words.you : view.name]
  if (view.acting) parts.push(words.toAct)
  if (view.dealer) parts.push(words.dealer)
  if (view.ai) parts.push(words.aiLevel(view.level))
  if (view.offline) parts.push(words.offline)
  if (view.bid !== null) parts.push(words.takenAloud(view.tricks, view.bid))
  else parts.push(view.bidHidden ? words.takenHidden(view.tricks) : words.noBid)
  parts.push(words.points(view.score))
  return words.label(parts)
}
