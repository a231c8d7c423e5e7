/**
 * Everything that is known of the nodes. Takes what the gateway says and the time; holds no socket
 * and reads no clock. What left stays for ten minutes.
 */
import type { Beats, Left, Node, Past, Reason, Trails } from './node'

/** How long nodes that left are shown. */
export const GONE_SHOWN_MS = 600_000
/** Between two points of a trail, and how many of them: ten minutes. */
const SAMPLE_EVERY_MS = 5_000
const SAMPLES_KEPT = 120
/** As many as the gateway remembers. */
const PAST_KEPT = 256

export type Sample = { players: number; games: number }
export type Entry = {
  node: Node
  gone: { at: number; reason: Reason } | null
  trail: Sample[]
}
export type Happening = { key: number; at: number; node: Node; reason: Reason | null; joined: boolean }

type Face = 'connecting' | 'live' | 'lost'

export class Fleet {
  /** By id and run: a node that left and came back is two for a while. */
  #entries = $state.raw<ReadonlyMap<string, Entry>>(new Map())
  /** Newest first. */
  #past = $state.raw<readonly Happening[]>([])
  #face = $state<Face>('connecting')
  #current = $state(true)
  #asOf = $state(0)
  #since = $state(0)
  /** What the registry's clock is ahead of ours. */
  #ahead = $state(0)
  #local = $state(0)
  #lastSample = -Infinity
  #lastKey = 0

  constructor(now: number) {
    this.#local = now
    this.#since = now
  }

  get entries(): Entry[] {
    return [...this.#entries.values()]
  }

  get past(): readonly Happening[] {
    return this.#past
  }

  /** `connecting` until the first picture. */
  get face(): Face {
    return this.#face
  }

  /** How long it has had this face, in ms. */
  get faceFor(): number {
    return this.#local - this.#since
  }

  /** Whether the gateway reaches the registry. */
  get current(): boolean {
    return this.#current
  }

  /** When the registry was last read, by its clock. */
  get asOf(): number {
    return this.#asOf
  }

  /** The registry's time. */
  get now(): number {
    return this.#local + this.#ahead
  }

  tick(local: number): void {
    this.#local = local
    const shown = [...this.#entries].filter(
      ([, entry]) => entry.gone === null || this.now - entry.gone.at < GONE_SHOWN_MS,
    )
    if (shown.length < this.#entries.size) this.#entries = new Map(shown)
  }

  lost(): void {
    if (this.#face === 'live') this.#turn('lost')
  }

  snapshot(nodes: Node[]): void {
    const before = this.#entries
    const entries = new Map([...before].filter(([, entry]) => entry.gone !== null))
    for (const node of nodes) {
      entries.set(keyOf(node), { node, gone: null, trail: before.get(keyOf(node))?.trail ?? [] })
    }
    this.#entries = entries
    this.#turn('live')
  }

  /** What has happened before this page was opened, oldest first. Replaces what was known of it. */
  history(past: Past[]): void {
    this.#past = past
      .map((one) =>
        this.#happening(one.at, one.node, one.event === 'left' ? one.reason : null, one.event === 'joined'),
      )
      .reverse()
    const entries = new Map(this.#entries)
    for (const one of past) {
      const key = keyOf(one.node)
      const at = one.at ?? this.now
      if (one.event === 'left' && entries.get(key)?.gone !== null && this.now - at < GONE_SHOWN_MS)
        entries.set(key, {
          node: one.node,
          gone: { at, reason: one.reason },
          trail: entries.get(key)?.trail ?? [],
        })
    }
    this.#entries = entries
  }

  /** The last minutes of everybody. What is known here stays where the gateway knows less: it is a new one. */
  trails({ nodes }: Trails): void {
    this.#lastSample = this.#local
    const entries = new Map(this.#entries)
    for (const [key, entry] of entries) {
      const told = entry.gone === null ? (nodes[entry.node.id] ?? []) : []
      if (told.length < entry.trail.length) continue
      entries.set(key, { ...entry, trail: told.map(([players, games]) => ({ players, games })) })
    }
    this.#entries = entries
  }

  joined(node: Node): void {
    this.#set(node)
    this.#remember(node, null, true)
  }

  changed(node: Node): void {
    this.#set(node)
  }

  left({ reason, ...node }: Left): void {
    const entries = new Map(this.#entries)
    const trail = entries.get(keyOf(node))?.trail ?? []
    entries.set(keyOf(node), { node, gone: { at: this.now, reason }, trail })
    this.#entries = entries
    this.#remember(node, reason, false)
  }

  beats(beats: Beats): void {
    if (beats.now !== null) this.#ahead = beats.now - this.#local
    this.#current = beats.current
    this.#asOf = beats.as_of
    const sampling = this.#local - this.#lastSample >= SAMPLE_EVERY_MS
    if (sampling) this.#lastSample = this.#local
    const entries = new Map(this.#entries)
    for (const [key, entry] of entries) {
      if (entry.gone !== null) continue
      const last_seen = beats.last_seen[entry.node.id] ?? entry.node.last_seen
      const trail = sampling ? [...entry.trail, sampleOf(entry.node)].slice(-SAMPLES_KEPT) : entry.trail
      entries.set(key, { ...entry, node: { ...entry.node, last_seen }, trail })
    }
    this.#entries = entries
  }

  #set(node: Node): void {
    const entries = new Map(this.#entries)
    const known = entries.get(keyOf(node))
    entries.set(keyOf(node), { node, gone: null, trail: known?.trail ?? [sampleOf(node)] })
    this.#entries = entries
  }

  #remember(node: Node, reason: Reason | null, joined: boolean): void {
    const happening = this.#happening(this.now, node, reason, joined)
    this.#past = [happening, ...this.#past].slice(0, PAST_KEPT)
  }

  #happening(at: number | null, node: Node, reason: Reason | null, joined: boolean): Happening {
    this.#lastKey += 1
    return { key: this.#lastKey, at: at ?? this.now, node, reason, joined }
  }

  #turn(face: Face): void {
    this.#face = face
    this.#since = this.#local
  }
}

const keyOf = (node: Node): string => `${node.id} ${node.incarnation}`
const sampleOf = (node: Node): Sample => ({ players: node.players, games: node.active_games })
