/** What has lately become of a node's lobbies: for operators to know, not to act on. */
import { operations as texts } from '../texts/operations'
import type { Node } from './node'

/** As long as nodes that left are shown. */
const SHOWN_MS = 600_000

/** What went with it when it left, if that was lately: the last of a node that drained. */
export function lastHandedOver(node: Node, at: number): string | null {
  const moved = node.last_handed_over
  if (moved === null || at - moved.at >= SHOWN_MS) return null
  return texts.timeline.handedOver(moved.lobbies, moved.why, moved.longest_ms)
}

export function movesOf(node: Node, now: number): string[] {
  const told = [
    { moved: node.last_taken_over, text: texts.moved.takenOver },
    { moved: node.last_handed_over, text: texts.moved.handedOver },
  ]
  return told.flatMap(({ moved, text }) =>
    moved === null || now - moved.at >= SHOWN_MS
      ? []
      : [text(moved.lobbies, moved.why, moved.longest_ms, now - moved.at)],
  )
}
