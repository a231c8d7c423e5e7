/** What is wrong with a node, worst first. */
import { operations as texts } from '../texts/operations'
import type { Node } from './node'

export type Trouble = { level: 'bad' | 'warn'; text: string }

/**
 * A heartbeat comes every five seconds at least, and the gateway asks for those of others as often: one of
 * ten seconds is nothing. After fifteen the node is gone.
 */
const SILENT_AFTER_MS = 11_500
/** A node whose link is down is relieved of its lobbies once its last heartbeat is so old. */
const RELIEVED_AFTER_MS = 8_000
/** The usual ceiling of a start. */
const SLOW_START_MS = 30_000

/** `now` is the registry's time; none while the registry is away, when old heartbeats say nothing. */
export function troublesOf(node: Node, now: number | null): Trouble[] {
  const bad: string[] = []
  const warn: string[] = []
  const say = texts.trouble
  if (node.state === 'stalled') bad.push(say.stalled)
  if (node.link === 'down') bad.push(node.dead ? say.dead : say.linkDown)
  if (node.cut_off) bad.push(say.cutOff)
  if (now !== null && node.last_seen > 0 && now - node.last_seen > SILENT_AFTER_MS) {
    const silent = node.link === 'up' ? say.silentButLinked : say.silent
    bad.push(silent(now - node.last_seen))
  }
  if (node.load === 'overloaded') bad.push(say.overloaded)
  if (node.suspended > 0 && !node.cut_off) bad.push(say.suspended(node.suspended))
  if (node.uncommitted > 0) warn.push((node.suspended > 0 ? say.unsaved : say.uncommitted)(node.uncommitted))
  if (!node.verified) warn.push(say.unverified(node.why))
  else if (node.why !== null && node.state !== 'starting') warn.push(say.why(node.why))
  if (node.state === 'draining') warn.push(say.draining(node.lobbies))
  if (now !== null && node.state === 'starting' && now - node.started_at > SLOW_START_MS)
    warn.push(say.slowStart(node.why))
  if (node.load === 'busy') warn.push(say.busy)
  return [
    ...bad.map((text): Trouble => ({ level: 'bad', text })),
    ...warn.map((text): Trouble => ({ level: 'warn', text })),
  ]
}

/**
 * Whether its lobbies are others' by now, which count them as theirs: what is left here is the number of its
 * last heartbeat, or of copies that show nothing any more.
 */
export const isMoot = (node: Node, now: number | null): boolean =>
  node.dead ||
  node.cut_off ||
  (node.link === 'down' && now !== null && now - node.last_seen >= RELIEVED_AFTER_MS)

/** 0 needs a look at once, 1 soon, 2 not. */
export function rankOf(troubles: Trouble[]): number {
  if (troubles.some((trouble) => trouble.level === 'bad')) return 0
  return troubles.length > 0 ? 1 : 2
}
