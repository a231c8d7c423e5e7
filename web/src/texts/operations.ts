/** Every text of the operators' page. */
import type { Load, Reason, Role, State } from '../operations/node'
import { age } from '../operations/age'

const word = (n: number, one: string, many: string): string => (n === 1 ? one : many)
const count = (n: number, one: string, many: string): string => `${n} ${word(n, one, many)}`

const roles: Record<Role, string> = { gateway: 'gateway', game: 'game', ai: 'AI' }

const reasons: Record<Reason, string> = {
  goodbye: 'said goodbye',
  expired: 'heartbeat lapsed',
  replaced: 'replaced by a later run',
}

/** Why one lobby, or several, were taken over or handed over. */
const whys: Record<string, [one: string, many: string]> = {
  dead: ['its node is gone', 'their node is gone'],
  restarted: ['its node has restarted', 'their node has restarted'],
  silent: ['its node said nothing any more', 'their node said nothing any more'],
  released: ['its node handed it over', 'their node handed them over'],
  handed_over: ['its node can’t save', 'their node can’t save'],
  own: ['it was this node’s and was not here', 'they were this node’s and were not here'],
  drain: ['this node was told to leave', 'this node was told to leave'],
  start: ['its game starts where there is room', 'their games start where there is room'],
}

const took = (ms: number): string => (ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`)

/** `when` with its blank before it, or nothing. */
const moved = (n: number, why: string, longest: number, when: string): string => {
  const [one, many] = whys[why] ?? [why, why]
  return n === 1
    ? `1 lobby${when}, within ${took(longest)}: ${one}`
    : `${n} lobbies${when}, each within ${took(longest)}: ${many}`
}

export const operations = {
  title: 'Wizard operations',
  titleTrouble: (n: number): string => `(${n}) Wizard operations`,
  at: (host: string): string => `seen from the gateway at ${host}`,
  role: (role: string): string => roles[role as Role] ?? role,
  states: { starting: 'starting', ready: 'ready', stalled: 'stalled', draining: 'draining' } satisfies Record<
    State,
    string
  >,
  gone: 'left',
  loads: { normal: 'normal', busy: 'busy', overloaded: 'overloaded' } satisfies Record<Load, string>,
  full: 'full',
  links: { up: 'up', down: 'down' },
  none: '–',
  columns: {
    trouble: 'Node',
    role: 'Role',
    state: 'State',
    load: 'Load',
    players: 'Players',
    lobbies: 'Lobbies',
    games: 'Games',
    trail: '10 min',
    link: 'Link',
    seen: 'Heartbeat',
    up: 'Up for',
    version: 'Version',
    drain: 'Take out',
  },
  sortBy: (column: string): string => `Sort by ${column.toLowerCase()}`,
  sortTrouble: 'What is wrong comes first',
  trailHint: 'Players (blue) and games (green) of the last ten minutes',
  trail: (players: number, games: number): string =>
    `${count(players, 'player', 'players')}, ${count(games, 'game', 'games')} now`,
  ago: (ms: number): string => `${age(ms)} ago`,
  for: (ms: number): string => age(ms),
  never: 'none yet',
  totals: {
    nodes: (n: number): string => word(n, 'node', 'nodes'),
    players: (n: number): string => word(n, 'player', 'players'),
    lobbies: (n: number): string => word(n, 'lobby', 'lobbies'),
    games: (n: number): string => word(n, 'game', 'games'),
    suspended: (n: number): string => word(n, 'stands still', 'stand still'),
    uncommitted: (): string => 'unsaved',
    trouble: (n: number): string => word(n, 'needs a look', 'need a look'),
  },
  allWell: 'All is well.',
  trouble: {
    stalled: 'the thread that serves does not run',
    silent: (ms: number): string => `no heartbeat for ${age(ms)}`,
    silentButLinked: (ms: number): string =>
      `no heartbeat for ${age(ms)}, and its link is up: it lives, and can’t reach the registry`,
    dead: 'its process is gone: nobody listens at its address',
    cutOff: 'it alone can’t save: it shows its players nothing more, and other nodes go on with its lobbies',
    linkDown: 'no link from this gateway: players can’t be sent there',
    overloaded: 'overloaded: no new games',
    busy: 'busy',
    unverified: (why: string | null): string => `unverified: ${why ?? 'can’t reach itself by its address'}`,
    why: (why: string): string => why,
    suspended: (n: number): string => `${count(n, 'lobby stands', 'lobbies stand')} still: can’t be saved`,
    uncommitted: (n: number): string => `${count(n, 'lobby goes', 'lobbies go')} on unsaved`,
    /** Those that stand still do not go on. */
    unsaved: (n: number): string => `${count(n, 'lobby has', 'lobbies have')} moves that are not saved yet`,
    draining: (n: number): string =>
      n === 0 ? 'leaving' : `leaving once ${count(n, 'lobby is', 'lobbies are')} at another node`,
    slowStart: (why: string | null): string => `still not ready: ${why ?? 'its /ready says what is missing'}`,
  },
  moved: {
    takenOver: (n: number, why: string, longest: number, ms: number): string =>
      `took over ${moved(n, why, longest, ` ${age(ms)} ago`)}`,
    handedOver: (n: number, why: string, longest: number, ms: number): string =>
      `handed over ${moved(n, why, longest, ` ${age(ms)} ago`)}`,
  },
  dead: 'dead',
  cutOff: 'cut off',
  /** Of numbers that are counted elsewhere. */
  moot: 'Counted at the nodes that have them now',
  left: (reason: Reason, ms: number): string => `${reasons[reason]} ${age(ms)} ago`,
  leftBehind: (n: number): string =>
    `${count(n, 'lobby was', 'lobbies were')} still here: saved, and on again as soon as somebody comes back to ${word(n, 'it', 'them')}`,
  timeline: {
    title: 'Joined and left',
    empty: 'Nothing has joined or left since this gateway started.',
    joined: 'joined',
    /** `last` is what it did before, or none. */
    left: (reason: Reason | null, last: string | null): string =>
      [reason ? `left: ${reasons[reason]}` : 'left', last].filter((part) => part !== null).join(' · '),
    handedOver: (n: number, why: string, longest: number): string =>
      `handed over ${moved(n, why, longest, '')}`,
  },
  connection: {
    connecting: 'Connecting to the gateway …',
    slow: 'The gateway does not answer. Trying on.',
    lost: (ms: number): string =>
      `Connection lost ${age(ms)} ago. Trying again; this is what was known then.`,
    registryAway: (ms: number): string =>
      `The registry has not answered this gateway for ${age(ms)}: players, lobbies and load are from then. Links, and what is not saved, are from now.`,
    unsaved: (n: number): string =>
      n === 0
        ? 'No linked node has anything unsaved.'
        : `${count(n, 'lobby goes', 'lobbies go')} on unsaved until it answers again.`,
    empty: 'No process is there yet.',
    emptyHint: 'Start a game node and an AI node with the same REDIS_URL; they appear here by themselves.',
  },
  drain: {
    action: 'Drain',
    label: (id: string): string => `Drain ${id}`,
    ask: (id: string): string => `Take ${id} out?`,
    game: (lobbies: number): string =>
      lobbies === 0
        ? 'It takes nothing new and leaves at once: no lobby is there.'
        : `It takes nothing new, hands its ${count(lobbies, 'lobby', 'lobbies')} over to other game nodes, and leaves. Players notice nothing.`,
    lastGame: (lobbies: number): string =>
      `It is the last game node that is ready: its ${count(lobbies, 'lobby is', 'lobbies are')} saved, and players wait until there is another one.`,
    gateway: (players: number): string =>
      `It closes ${count(players, 'connection', 'connections')}; the players come back through another gateway.`,
    gatewayOwn: 'If it is the gateway that shows this page, the page goes with it.',
    ai: 'Others decide for its seats; without another AI node, they move at random.',
    token: 'Operators’ token',
    go: 'Drain',
    cancel: 'Cancel',
    asking: 'Asking …',
    asked: (id: string): string => `${id} was asked to leave.`,
    refused: {
      token: 'That is not the operators’ token.',
      forbidden: 'This gateway has no OPERATOR_TOKEN: nobody may drain through it.',
      unknown: 'No such node is there any more.',
      failed: 'The gateway could not do it. Try again.',
    },
  },
}
