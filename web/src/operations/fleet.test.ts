import { describe, expect, it } from 'vitest'
import { age } from './age'
import { Fleet, GONE_SHOWN_MS } from './fleet.svelte'
import { movesOf } from './moves'
import type { Node } from './node'
import { sorted } from './order'
import { line } from './spark'
import { isMoot, rankOf, troublesOf } from './trouble'

const NOW = 1_000_000

function node(id: string, more: Partial<Node> = {}): Node {
  return {
    id,
    role: 'game',
    incarnation: `run of ${id}`,
    address: '10.0.0.7:7000',
    state: 'ready',
    verified: true,
    why: null,
    load: 'normal',
    accepting_games: true,
    players: 0,
    lobbies: 0,
    active_games: 0,
    version: '1',
    suspended: 0,
    uncommitted: 0,
    last_handed_over: null,
    last_taken_over: null,
    started_at: NOW - 60_000,
    last_seen: NOW - 1_000,
    link: 'up',
    dead: false,
    cut_off: false,
    ...more,
  }
}

const fleetOf = (...nodes: Node[]): Fleet => {
  const fleet = new Fleet(0)
  fleet.snapshot(nodes)
  fleet.beats({ now: NOW, current: true, as_of: NOW, last_seen: {} })
  return fleet
}
const there = (fleet: Fleet): string[] =>
  fleet.entries.map(({ node, gone }) => `${node.id}${gone ? ` ${gone.reason}` : ''}`)

describe('the fleet', () => {
  it('keeps who left for ten minutes of the registry’s time, and not longer', () => {
    const fleet = fleetOf(node('a'), node('b'))
    fleet.left({ ...node('a'), reason: 'expired' })
    expect(there(fleet)).toEqual(['a expired', 'b'])
    fleet.tick(GONE_SHOWN_MS - 1)
    expect(there(fleet)).toEqual(['a expired', 'b'])
    fleet.tick(GONE_SHOWN_MS)
    expect(there(fleet)).toEqual(['b'])
    expect(fleet.past).toHaveLength(1)
  })

  it('shows a run and the one that replaced it', () => {
    const fleet = fleetOf(node('a'))
    fleet.left({ ...node('a'), reason: 'replaced' })
    fleet.joined(node('a', { incarnation: 'later' }))
    expect(there(fleet)).toEqual(['a replaced', 'a'])
    expect(fleet.past.map(({ joined }) => joined)).toEqual([true, false])
  })

  it('learns what happened before the page was opened', () => {
    const fleet = fleetOf(node('b'))
    fleet.history([
      { at: NOW - GONE_SHOWN_MS, event: 'left', node: node('long ago'), reason: 'goodbye' },
      { at: NOW - 5_000, event: 'left', node: node('a'), reason: 'expired' },
      { at: NOW - 1_000, event: 'joined', node: node('b') },
    ])
    expect(there(fleet)).toEqual(['b', 'a expired'])
    expect(fleet.past.map((past) => past.node.id)).toEqual(['b', 'a', 'long ago'])
  })

  it('counts ages by the registry’s clock, however wrong its own is', () => {
    const fleet = fleetOf(node('a'))
    expect(fleet.now).toBe(NOW)
    fleet.tick(2_500)
    expect(fleet.now).toBe(NOW + 2_500)
    fleet.beats({ now: NOW + 2_600, current: true, as_of: NOW, last_seen: { a: NOW + 2_000 } })
    expect(fleet.now - (fleet.entries[0]?.node.last_seen ?? 0)).toBe(600)
  })

  it('shows the last minutes at once, and keeps what a new gateway does not know', () => {
    const fleet = new Fleet(0)
    fleet.snapshot([node('a', { players: 3 }), node('b')])
    const trail = (id: string): number[] =>
      fleet.entries.find((entry) => entry.node.id === id)?.trail.map(({ players }) => players) ?? []
    fleet.trails({
      every_ms: 5_000,
      nodes: {
        a: [
          [1, 0],
          [2, 1],
        ],
      },
    })
    fleet.beats({ now: NOW, current: true, as_of: NOW, last_seen: {} })
    expect([trail('a'), trail('b')]).toEqual([[1, 2], []])
    fleet.tick(5_000)
    fleet.beats({ now: NOW, current: true, as_of: NOW, last_seen: {} })
    expect(trail('a')).toEqual([1, 2, 3])
    fleet.trails({ every_ms: 5_000, nodes: { a: [[9, 9]] } })
    expect(trail('a')).toEqual([1, 2, 3])
  })

  it('keeps a trail of ten minutes over a lost connection', () => {
    const fleet = fleetOf(node('a'))
    for (let local = 5_000; local <= 1_000_000; local += 5_000) {
      fleet.tick(local)
      fleet.beats({ now: null, current: false, as_of: NOW, last_seen: {} })
    }
    expect(fleet.entries[0]?.trail).toHaveLength(120)
    fleet.lost()
    expect(fleet.face).toBe('lost')
    fleet.snapshot([node('a')])
    expect(fleet.face).toBe('live')
    expect(fleet.entries[0]?.trail).toHaveLength(120)
  })
})

describe('what is wrong', () => {
  const rank = (more: Partial<Node>, now: number | null = NOW): number =>
    rankOf(troublesOf(node('a', more), now))

  it('is told by how soon somebody must look', () => {
    expect(rank({})).toBe(2)
    expect(rank({ link: null })).toBe(2)
    for (const bad of [
      { state: 'stalled' },
      { link: 'down' },
      { load: 'overloaded' },
      { suspended: 1 },
      { last_seen: NOW - 11_501 },
    ] as const)
      expect(rank(bad), JSON.stringify(bad)).toBe(0)
    for (const warn of [
      { verified: false },
      { state: 'draining' },
      { load: 'busy' },
      { uncommitted: 1 },
      { state: 'starting', started_at: NOW - 30_001 },
    ] as const)
      expect(rank(warn), JSON.stringify(warn)).toBe(1)
    expect(rank({ state: 'starting', started_at: NOW })).toBe(2)
  })

  it('is not a heartbeat of another process that the gateway has not looked for again', () => {
    expect(rank({ last_seen: NOW - 10_500 })).toBe(2)
  })

  it('is not told twice of lobbies that stand still: they do not go on', () => {
    const told = troublesOf(node('a', { suspended: 2, uncommitted: 1 }), NOW).map(({ text }) => text)
    expect(told).toEqual([
      '2 lobbies stand still: can’t be saved',
      '1 lobby has moves that are not saved yet',
    ])
  })

  it('is told in words that fit: dead, or alive without the registry', () => {
    const told = (more: Partial<Node>): string[] => troublesOf(node('a', more), NOW).map(({ text }) => text)
    const silent = { last_seen: NOW - 20_000 }
    expect(told({ link: 'down', dead: true, ...silent })).toEqual([
      'its process is gone: nobody listens at its address',
      'no heartbeat for 20 s',
    ])
    expect(told({ cut_off: true, suspended: 4, ...silent })).toEqual([
      'it alone can’t save: it shows its players nothing more, and other nodes go on with its lobbies',
      'no heartbeat for 20 s, and its link is up: it lives, and can’t reach the registry',
    ])
  })

  it('is not a heartbeat that nobody could hear', () => {
    expect(rank({ last_seen: NOW - 60_000 }, null)).toBe(2)
  })
})

it('counts the lobbies of a node that others go on with where they are now', () => {
  const moot = (more: Partial<Node>, now: number | null = NOW): boolean => isMoot(node('a', more), now)
  expect([moot({ dead: true, link: 'down' }), moot({ cut_off: true })]).toEqual([true, true])
  expect(moot({ link: 'down', last_seen: NOW - 8_000 })).toBe(true)
  expect(moot({ link: 'down', last_seen: NOW - 7_900 })).toBe(false)
  expect(moot({ link: 'up', last_seen: NOW - 60_000 })).toBe(false)
  expect(moot({ link: 'down', last_seen: NOW - 60_000 }, null)).toBe(false)
})

describe('the order', () => {
  it('puts what is wrong first and who left last, whatever is asked for', () => {
    const fleet = fleetOf(node('b', { players: 5 }), node('a'), node('c', { load: 'busy' }), node('d'))
    fleet.left({ ...node('d', { players: 99 }), reason: 'goodbye' })
    const ids = (column: 'trouble' | 'players', down = false): string[] =>
      sorted(fleet.entries, { column, down }, fleet.now).map((entry) => entry.node.id)
    expect(ids('trouble')).toEqual(['c', 'a', 'b', 'd'])
    expect(ids('players')).toEqual(['b', 'a', 'c', 'd'])
    expect(ids('players', true).at(-1)).toBe('d')
  })
})

it('says ages in one unit', () => {
  expect([0, 1_999, 119_000, 120_000, 7_200_000, 172_800_000].map(age)).toEqual([
    '0 s',
    '1 s',
    '119 s',
    '2 min',
    '2 h',
    '2 d',
  ])
})

it('draws a line that ends at the right edge', () => {
  expect(line([], 84, 20)).toBe('')
  expect(line([3], 84, 20)).toBe('M83.0 1.5L83.0 1.5')
  expect(line([0, 10], 84, 20)).toMatch(/^M82\.3 18\.5L83\.0 1\.5$/)
})

describe('what has become of a node’s lobbies', () => {
  it('says how many, why and how long, and for ten minutes only', () => {
    const moved = node('a', {
      last_taken_over: { at: NOW - 4_000, why: 'dead', lobbies: 33, longest_ms: 1_240 },
      last_handed_over: { at: NOW - 599_000, why: 'drain', lobbies: 1, longest_ms: 7 },
    })
    expect(movesOf(moved, NOW)).toEqual([
      'took over 33 lobbies 4 s ago, each within 1.2 s: their node is gone',
      'handed over 1 lobby 9 min ago, within 7 ms: this node was told to leave',
    ])
    expect(movesOf(moved, NOW + 1_000)).toHaveLength(1)
    expect(movesOf(node('b'), NOW)).toEqual([])
  })
})
