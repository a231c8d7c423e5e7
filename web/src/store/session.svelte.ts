/**
 * What the page knows: the newest state, who we are, what the connection does; and the one way to send.
 *
 * Invariant: nothing is changed here before the server has said so. A command that waits for its answer
 * is only marked as pending.
 */
import type { ConnectionView, Delivery } from '../net/connection'
import type { ClientCommand, ErrorMessage, Player, ServerStatus, State, Welcome } from '../protocol'
import { texts } from '../texts'
import { Notices, type Place } from './notices.svelte'
import { token, storedName } from './storage'

/** Sends and starts; `Link` in the page, a stand-in on the fixture page. */
export type Wire = {
  start: (token: string | null) => void
  send: (message: ClientCommand & { id: string }) => void
  retry: () => void
}

const CALM: ServerStatus = { level: 'normal', accepting_games: true, reason: null, retry_after_ms: null }

/** Where an answer to each kind of message belongs. */
const PLACES: Record<ClientCommand['type'], Place> = {
  hello: 'page',
  create_lobby: 'create',
  join_lobby: 'join',
  quick_play: 'quick_play',
  watch_lobby: 'join',
  leave_lobby: 'page',
  add_ai: 'seats',
  remove_player: 'seats',
  set_options: 'options',
  start_game: 'start',
  action: 'table',
  replace_player: 'table',
  react: 'table',
  return_to_lobby: 'table',
  ping: 'page',
}

export class Session {
  state: State | null = $state.raw(null)
  status: ServerStatus = $state.raw(CALM)
  connection: ConnectionView = $state.raw({
    face: 'connecting',
    stopped: null,
    trouble: null,
    retry_at_ms: null,
  })
  playerId: string | null = $state(null)
  /** Where a command still waits for its answer. */
  pending: Place | null = $state(null)
  name: string = $state(storedName.read())

  readonly notices = new Notices()
  #wire: Wire | null = null
  #lastId = 0

  readonly lobby = $derived(this.state?.lobby ?? null)
  readonly me: Player | null = $derived(
    this.lobby?.players.find((player) => player.id === this.playerId) ?? null,
  )
  readonly isHost = $derived(this.me !== null && this.lobby?.host_id === this.playerId)
  readonly isSpectator = $derived(this.lobby !== null && this.me === null)

  begin(wire: Wire): void {
    this.#wire = wire
    wire.start(token.read())
  }

  send = (command: ClientCommand): void => {
    const place = PLACES[command.type]
    this.notices.clear(place)
    this.#lastId += 1
    if (command.type !== 'action' && command.type !== 'react') this.pending = place
    this.#wire?.send({ ...command, id: `${place}-${this.#lastId}` })
  }

  retry = (): void => this.#wire?.retry()

  rename(name: string): void {
    this.name = name
    storedName.write(name.trim())
  }

  delivered = (delivery: Delivery): void => {
    switch (delivery.type) {
      case 'welcome':
        return this.#welcomed(delivery.welcome)
      case 'status':
        this.status = delivery.status
        return
      case 'state':
        return this.#stateCame(delivery.state, delivery.first)
      case 'error':
        return this.#errorCame(delivery.error)
      case 'undelivered':
        this.pending = null
        return this.notices.show(PLACES[delivery.message.type], texts.connection.undelivered)
    }
  }

  viewed = (view: ConnectionView): void => {
    if (view.face !== 'live') this.pending = null
    const before = this.connection
    const same = (Object.keys(view) as (keyof ConnectionView)[]).every((key) => view[key] === before[key])
    if (!same) this.connection = view
  }

  #welcomed(welcome: Welcome): void {
    this.playerId = welcome.player_id
    token.write(welcome.token)
    if (welcome.name && !this.name) this.rename(welcome.name)
  }

  #stateCame(state: State, first: boolean): void {
    const before = this.state
    // A lower `seq` of the same lobby is a late echo: what is on the screen is newer.
    const late = before?.lobby && state.lobby?.code === before.lobby.code && state.seq < before.seq
    if (late && !first) return
    if (first && before?.lobby && !state.lobby) this.notices.show('page', texts.connection.seatGone)
    this.pending = null
    this.state = state
  }

  #errorCame(error: ErrorMessage): void {
    this.pending = null
    if (error.code === 'taken_over') return
    this.notices.show(placeOf(error.id), sentence(error))
  }
}

/** An error without an `id` of ours concerns the whole page. */
function placeOf(id: string | null | undefined): Place {
  const name = id?.slice(0, id.lastIndexOf('-'))
  return Object.values(PLACES).find((place) => place === name) ?? 'page'
}

function sentence(error: ErrorMessage): string {
  const known: Partial<Record<string, string>> = texts.errors
  const text = known[error.code] ?? texts.errors.internal
  return error.retry_after_ms ? `${text} ${texts.connection.tryAgainIn(error.retry_after_ms)}` : text
}
