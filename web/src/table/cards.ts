/** What a card's short name on the wire means. Knows no rules: only how a card looks and is called. */
import type { Card, Suit } from '../protocol'
import { texts } from '../texts'

export type Face = { kind: 'suited'; suit: Suit; rank: number } | { kind: 'wizard' } | { kind: 'jester' }

const suitOfLetter: Record<string, Suit> = { B: 'blue', G: 'green', R: 'red', Y: 'yellow' }

export const suits: readonly Suit[] = ['blue', 'green', 'red', 'yellow']

export function faceOf(card: Card): Face {
  const suit = suitOfLetter[card.charAt(0)]
  if (suit !== undefined) return { kind: 'suited', suit, rank: Number(card.slice(1)) }
  return card.startsWith('W') ? { kind: 'wizard' } : { kind: 'jester' }
}

/** The corner's letter or number. */
export function cornerOf(face: Face): string {
  if (face.kind === 'suited') return String(face.rank)
  return face.kind === 'wizard' ? 'W' : 'J'
}

/** As it is read aloud: `red 7`, `Wizard`. */
export function nameOf(card: Card): string {
  const face = faceOf(card)
  return face.kind === 'suited' ? texts.table.card.suited(face.suit, face.rank) : texts.table.card[face.kind]
}
