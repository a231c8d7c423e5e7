/**
 * The page without a server: `/dev/?show=lobby-host` feeds one fixture. Served by `npm run dev` only;
 * the build knows nothing of it.
 */
import { mount } from 'svelte'
import App from '../src/App.svelte'
import type { ConnectionView } from '../src/net/connection'
import type { ErrorCode, Lobby, Player, ServerStatus, State } from '../src/protocol'
import { Session } from '../src/store/session.svelte'
import '../src/theme.css'

const ME = 'aaaaaaaaaaaa'

const person = (name: string, more: Partial<Player> = {}): Player => ({
  id: `person-${name}`,
  name,
  is_ai: false,
  connected: true,
  replaceable: false,
  ...more,
})
const robot = (name: string, level: Player['level'] = 'normal'): Player =>
  person(name, { id: `ai-${name}`, is_ai: true, level })
const me = person('Ada Lovelace', { id: ME })

function lobby(players: Player[], more: Partial<Lobby> = {}): Lobby {
  return {
    code: 'K7MWQX',
    status: 'waiting',
    host_id: players[0]?.id ?? ME,
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

type Fixture = {
  lobby?: Lobby | null
  status?: Partial<ServerStatus>
  view?: Partial<ConnectionView>
  error?: { code: ErrorCode; place: string; retry_after_ms?: number }
  name?: string
}

const full = lobby([
  me,
  person('Grace'),
  robot('Merlin'),
  robot('Morgana', 'hard'),
  person('Wilhelmina von Humboldt', { connected: false }),
  robot('Gandalf', 'easy'),
])

const fixtures: Record<string, Fixture> = {
  start: { lobby: null, name: 'Ada' },
  'start-empty': { lobby: null, name: '' },
  'start-refused': {
    lobby: null,
    name: 'Ada',
    status: { accepting_games: false, reason: 'redis_away', retry_after_ms: 15_000 },
  },
  'start-error': { lobby: null, name: 'Ada', error: { code: 'lobby_not_found', place: 'join' } },
  'lobby-alone': { lobby: lobby([me]) },
  'lobby-host': { lobby: full },
  'lobby-guest': {
    lobby: lobby([person('Grace'), me, robot('Merlin')], {
      spectators: 2,
      options: { hidden_bids: true, bid_rule: 'free', length: 'short', turn_seconds: 45 },
    }),
  },
  'lobby-watch': { lobby: lobby([person('Grace'), robot('Merlin')], { spectators: 1 }), name: 'Ada' },
  'lobby-error': {
    lobby: lobby([me, robot('Merlin')]),
    error: { code: 'busy', place: 'start', retry_after_ms: 5_000 },
  },
  'lobby-reconnecting': { lobby: full, view: { face: 'reconnecting' } },
  'lobby-moving': { lobby: full, status: { reason: 'moving' } },
  'lobby-unsaved': { lobby: { ...full, saved: false } },
  connecting: { view: { face: 'connecting' } },
  unreachable: { view: { face: 'connecting', trouble: 'unreachable', retry_at_ms: Date.now() + 8_000 } },
  full: { view: { face: 'connecting', trouble: 'full', retry_at_ms: Date.now() + 22_000 } },
  'taken-over': { lobby: full, view: { face: 'stopped', stopped: 'taken_over' } },
}

const shown = new URL(location.href).searchParams.get('show') ?? 'start'
const fixture = fixtures[shown]
const target = document.getElementById('app')
if (!target || !fixture) throw new Error(`no fixture ${shown}; there are ${Object.keys(fixtures).join(', ')}`)

const session = new Session()
session.begin({ start: () => undefined, retry: () => undefined, send: (message) => console.info(message) })
if (fixture.name !== undefined) session.name = fixture.name
session.playerId = ME
const live: ConnectionView = { face: 'live', stopped: null, trouble: null, retry_at_ms: null }
session.viewed({ ...live, ...fixture.view })
if (fixture.lobby !== undefined) {
  const state: State = { seq: 1, lobby: fixture.lobby, game: null, events: [] }
  session.delivered({ type: 'state', state, first: true })
}
session.delivered({
  type: 'status',
  status: { level: 'normal', accepting_games: true, reason: null, retry_after_ms: null, ...fixture.status },
})
if (fixture.error) {
  const { place, ...error } = fixture.error
  session.delivered({ type: 'error', error: { type: 'error', message: '', id: `${place}-1`, ...error } })
}
mount(App, { target, props: { session } })
