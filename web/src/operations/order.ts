/** In which order the nodes are shown. Who left comes last, whatever the order. */
import type { Entry } from './fleet.svelte'
import { rankOf, troublesOf } from './trouble'

export type Column =
  'trouble' | 'role' | 'state' | 'load' | 'players' | 'lobbies' | 'games' | 'link' | 'seen' | 'up' | 'version'

export type Order = { column: Column; down: boolean }

const ROLES = ['gateway', 'game', 'ai']
const STATES = ['stalled', 'starting', 'draining', 'ready']
const LOADS = ['overloaded', 'busy', 'normal']
const LINKS = ['down', 'up']

/** Where it stands in the list; what is not there comes last. */
const place = (list: string[], word: string | null): number =>
  word !== null && list.includes(word) ? list.indexOf(word) : list.length

/** Small comes first. */
function valueOf({ node }: Entry, column: Column, now: number | null): number | string {
  switch (column) {
    case 'trouble':
      return rankOf(troublesOf(node, now))
    case 'role':
      return place(ROLES, node.role)
    case 'state':
      return place(STATES, node.state)
    case 'load':
      return place(LOADS, node.load)
    case 'link':
      return place(LINKS, node.link)
    case 'players':
      return -node.players
    case 'lobbies':
      return -node.lobbies
    case 'games':
      return -node.active_games
    case 'seen':
      return node.last_seen
    case 'up':
      return -node.started_at
    case 'version':
      return node.version
  }
}

export function sorted(entries: Entry[], order: Order, now: number | null): Entry[] {
  const compare = (left: number | string, right: number | string): number =>
    left < right ? -1 : left > right ? 1 : 0
  const key = (entry: Entry): string =>
    `${place(ROLES, entry.node.role)} ${entry.node.id} ${entry.node.incarnation}`
  return [...entries].sort((left, right) => {
    if ((left.gone === null) !== (right.gone === null)) return left.gone === null ? -1 : 1
    if (left.gone && right.gone) return right.gone.at - left.gone.at
    const by = compare(valueOf(left, order.column, now), valueOf(right, order.column, now))
    return (order.down ? -by : by) || compare(key(left), key(right))
  })
}
