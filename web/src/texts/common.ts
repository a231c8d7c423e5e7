/** Start, lobby, connection and errors. The table's own words are in `table.ts`. */
import type { AiLevel, ErrorCode, Options, StatusReason } from '../protocol'
import type { StopReason, Trouble } from '../net/connection'

/** `1 card`, `2 cards`. */
export const count = (n: number, one: string, many: string): string => `${n} ${n === 1 ? one : many}`

const seconds = (ms: number): string => count(Math.max(1, Math.ceil(ms / 1000)), 'second', 'seconds')

const start = {
  tagline: 'Say how many tricks you will take. Then take exactly that many.',
  name: 'Your name',
  namePlaceholder: 'What shall we call you?',
  nameMissing: 'Say who you are first.',
  nameTooLong: 'A name has at most 20 characters.',
  nameOdd: 'This name holds a character that can’t be shown.',
  create: 'Open a table',
  createHint: 'A table of your own, for friends and AI players. Quick play: straight to a public one.',
  quickPlay: 'Quick play',
  joinTitle: 'Have a code?',
  invitedTo: 'You are invited to',
  code: 'Table code',
  codeHint: 'Six letters and digits, or paste the link.',
  codeShort: (missing: number): string => `${count(missing, 'character', 'characters')} to go.`,
  join: 'Join table',
  watch: 'Watch',
  watchHint: 'Look on without a seat.',
  otherwise: 'or',
}

const lobby = {
  code: 'Table code',
  copyLink: 'Copy invitation link',
  copied: 'Copied',
  copyFailed: 'Copy this link:',
  qr: 'QR code of the invitation link',
  qrHint: 'Scan to sit down.',
  seats: (taken: number, most: number): string => `${taken} of ${most} seats taken`,
  seatFree: 'free',
  you: 'you',
  host: 'host',
  offline: 'offline',
  ai: 'AI',
  addAi: 'Add an AI player',
  addAiLevel: 'Strength of the next AI player',
  levels: { easy: 'Easy', normal: 'Normal', hard: 'Hard' } satisfies Record<AiLevel, string>,
  aiAway: 'The AI is away just now: AI players move at random until it is back.',
  remove: (name: string): string => `Remove ${name}`,
  removeAsk: (name: string): string => `Remove ${name} from the table?`,
  removeDo: 'Remove',
  start: 'Start the game',
  leave: 'Leave',
  leaveAsk: 'Leave this table?',
  leaveDo: 'Leave',
  stay: 'Stay',
  watching: 'You are watching.',
  takeSeat: 'Take a seat',
  spectators: (n: number): string => count(n, 'person is watching', 'people are watching'),
  options: 'House rules',
  optionsHost: 'Only the host can change these.',
  why: {
    morePlayers: (n: number): string => (n === 1 ? 'One more player.' : `${n} more players.`),
    notHost: (host: string): string => `Only the host, ${host}, can start.`,
    notHostAi: 'Only the host can add players.',
    full: 'All seats are taken.',
    running: 'The game has already begun.',
  },
}

const options = {
  public: {
    title: 'Public table',
    on: 'Quick play may bring strangers here.',
    off: 'Only people with the code or link come in.',
  },
  length: {
    title: 'Length',
    choices: { short: 'Short', tournament: 'Tournament', full: 'Full' } satisfies Record<
      Options['length'],
      string
    >,
    explain: {
      short: 'Five rounds: 1, 3, 5, 7 and 9 cards. A quarter of an hour.',
      tournament: 'Ten rounds with chosen hand sizes.',
      full: 'Every round from one card to the whole pack. An evening.',
    } satisfies Record<Options['length'], string>,
  },
  bidRule: {
    title: 'Bids',
    choices: { free: 'Free', hook: 'Hook', canadian: 'Canadian' } satisfies Record<
      Options['bid_rule'],
      string
    >,
    explain: {
      free: 'Everybody bids what they like.',
      hook: 'The last bid may not make the sum come out even: somebody must miss.',
      canadian: 'As the hook, but only for a dealer who leads alone; zero is always allowed.',
    } satisfies Record<Options['bid_rule'], string>,
    whenHidden: 'Hidden bids are always free.',
  },
  hiddenBids: {
    title: 'Hidden bids',
    on: 'Bids are secret until the last one is in.',
    off: 'Everybody hears every bid as it is made.',
  },
  turnSeconds: {
    title: 'Time to think',
    choice: (value: number | null): string => (value === null ? 'No limit' : `${value} s`),
    none: 'The game waits for whoever is to act.',
    some: (value: number): string => `After ${value} seconds the AI makes that one move.`,
  },
}

const connection = {
  connecting: 'Connecting…',
  reconnecting: 'Connection lost. Coming back…',
  trouble: {
    unreachable: 'The server can’t be reached. Is your network up?',
    silent: 'The server was reached, but doesn’t answer.',
    table_missing: 'The server answers, but your table isn’t there yet.',
    full: 'The server is full just now.',
    unavailable: 'The server can’t find your seat yet. It is still looking.',
  } satisfies Record<Trouble, string>,
  retryIn: (ms: number): string => `Next try in ${seconds(ms)}.`,
  trying: 'Trying again…',
  retryNow: 'Try now',
  stopped: {
    taken_over: {
      title: 'Opened in another window',
      text: 'You are playing in another window or on another device. Your seat is kept there.',
      action: 'Play here instead',
    },
    refused: {
      title: 'The server has closed this connection',
      text: 'Too many messages came from this page, or this address may not connect.',
      action: 'Connect again',
    },
    too_large: {
      title: 'The server has closed this connection',
      text: 'This page sent something that was too large. Reloading should help.',
      action: 'Connect again',
    },
  } satisfies Record<StopReason, { title: string; text: string; action: string }>,
  status: {
    moving: 'Your table is moving to another server. A moment…',
    redis_away: 'New tables are not possible right now. Running games go on.',
    overloaded: 'The server is very busy: no new games right now. Running games go on.',
    full: 'All tables are taken right now. Running games go on.',
  } satisfies Record<StatusReason, string>,
  notAccepting: 'New games are not possible right now.',
  tryAgainIn: (ms: number): string => `Try again in ${seconds(ms)}.`,
  unsaved: 'The game goes on unsaved for now: its last moves could be lost.',
  undelivered: 'That didn’t go out: no connection. Please try again.',
  seatGone: 'You were away for a long time, and your seat is gone.',
}

/** A sentence for each stable code; the server's own `message` is for programmers. */
const errors: Record<ErrorCode, string> = {
  invalid_message: 'The server didn’t understand that. Reloading the page may help.',
  hello_required: 'The connection isn’t ready yet. Please try again.',
  rate_limited: 'That was a bit fast. Take a breath and try again.',
  busy: 'No server takes new tables right now.',
  unavailable: 'That isn’t possible for the moment. Please try again.',
  lobby_not_found: 'There is no table with this code.',
  lobby_full: 'This table is full.',
  lobby_playing: 'The game at this table has already begun. You can watch it.',
  not_in_lobby: 'You are not at a table any more.',
  not_host: 'Only the host can do that.',
  not_waiting: 'The game has already begun.',
  not_playing: 'The game isn’t running.',
  not_finished: 'The game isn’t over yet.',
  not_enough_players: 'It takes at least three players.',
  player_not_found: 'This player isn’t at the table any more.',
  player_present: 'This player is back, or hasn’t been away long enough.',
  not_your_turn: 'It isn’t your turn.',
  illegal_action: 'The rules don’t allow that now.',
  stale_turn: 'Too late: the game has moved on.',
  bad_option: 'These rules don’t go together.',
  spectator: 'You are only watching.',
  removed: 'The host has removed you from the table.',
  taken_over: 'You have opened the game in another window.',
  lobby_lost: 'This table has ended because of a fault of ours. We are sorry.',
  internal: 'Something went wrong on our side. Please try again.',
}

export const common = {
  title: 'Wizard',
  titleYourTurn: 'Your turn · Wizard',
  cancel: 'Cancel',
  close: 'Close',
  switchTable: {
    ask: (from: string, to: string): string => `You sit at table ${from}. Leave it for table ${to}?`,
    go: 'Go there',
  },
  start,
  lobby,
  options,
  connection,
  errors,
}
