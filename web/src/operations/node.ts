/** What `GET /nodes` says of a process, as in `docs/protocol.md` §2. Times are the registry's, in epoch ms. */

export type Role = 'gateway' | 'game' | 'ai'
export type State = 'starting' | 'ready' | 'stalled' | 'draining'
export type Load = 'normal' | 'busy' | 'overloaded'
export type Link = 'up' | 'down'
export type Reason = 'goodbye' | 'expired' | 'replaced'

/** Lobbies that changed their owner together; `at` is of the first of them. */
export type Moved = { at: number; why: string; lobbies: number; longest_ms: number }

export type Node = {
  id: string
  /** Any word; these three are ours. */
  role: Role | (string & {})
  incarnation: string
  address: string
  state: State
  verified: boolean
  why: string | null
  load: Load
  accepting_games: boolean
  players: number
  lobbies: number
  active_games: number
  version: string
  suspended: number
  uncommitted: number
  /** The last that went together, and the last that came together. */
  last_handed_over: Moved | null
  last_taken_over: Moved | null
  started_at: number
  last_seen: number
  link: Link | null
  /** The link is down, and its process is known to be gone. */
  dead: boolean
  /** It alone can't save, and has given its lobbies to whoever can. */
  cut_off: boolean
}

export type Left = Node & { reason: Reason }
export type Beats = {
  now: number | null
  current: boolean
  /** When the registry was last read, by its clock. */
  as_of: number
  last_seen: Record<string, number>
}
/** Of each node that is there, by id: players and games, oldest first. */
export type Trails = { every_ms: number; nodes: Record<string, [players: number, games: number][]> }
export type Past =
  | { at: number | null; event: 'joined'; node: Node }
  | { at: number | null; event: 'left'; node: Node; reason: Reason }
