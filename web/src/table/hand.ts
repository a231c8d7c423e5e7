/**
 * How the own hand lies: a fan where there is room, rows that overlap on a phone. Pure geometry in
 * pixels, from the left end and the top of the hand's box.
 */
import { cardAspect, type Size } from './seats'

/** A finger needs this much of a card. */
export const tapWidth = 44

/** `width`, `height`: the part that no other card covers, from the card's upper left corner. */
export type HandCard = { x: number; y: number; rotate: number; width: number; height: number }
export type HandLayout = { cards: HandCard[]; height: number }

/** Narrower cards in rows would leave their corners too small to read. */
const smallestRowCard = 56
const rowCardWidths = [78, 72, 66, 60, smallestRowCard]

/** How far the outermost cards lean at most, in degrees. */
const widestLean = 11

/** A fan: cards on a shallow arc, at most a good part of a card apart. */
export function fan(cards: number, width: number, card: Size): HandLayout {
  const step = cards > 1 ? Math.min(card.width * 0.8, (width - card.width * 1.18) / (cards - 1)) : 0
  const middle = (cards - 1) / 2
  const lean = cards > 1 ? Math.min(2.6, widestLean / middle) : 0
  const placed = Array.from({ length: cards }, (_, index): HandCard => {
    const off = index - middle
    const rotate = off * lean
    return {
      x: width / 2 + off * step - card.width / 2,
      y: Math.tan((Math.abs(rotate) * Math.PI) / 180 / 2) * Math.abs(off) * step,
      rotate,
      width: index === cards - 1 ? card.width : Math.min(step, card.width),
      height: card.height,
    }
  })
  const sag = placed.length > 0 ? Math.max(...placed.map(({ y }) => y)) : 0
  return { cards: placed, height: card.height + sag }
}

/** As wide as a card may be without a further row: the fewer cards, the larger. */
export function rowCardWidth(cards: number, width: number, widest: number): number {
  const fewest = rowSizes(cards, width, smallestRowCard).length
  return (
    rowCardWidths.find((wide) => wide <= widest && rowSizes(cards, width, wide).length === fewest) ??
    smallestRowCard
  )
}

/**
 * How many cards lie in each row, top first. As few rows as let a finger hit each card, filled
 * evenly: 20 cards on a phone are three rows, since two would leave 36 pixels a card.
 */
export function rowSizes(cards: number, width: number, cardWidth: number): number[] {
  if (cards === 0) return []
  const mostInRow = Math.max(1, Math.floor((width - cardWidth) / tapWidth) + 1)
  const rows = Math.ceil(cards / mostInRow)
  const shortest = Math.floor(cards / rows)
  const longer = cards % rows
  return Array.from({ length: rows }, (_, row) => shortest + (row < longer ? 1 : 0))
}

/** Rows, each covering the lower part of the one above; `width` is used to the full. */
export function rows(cards: number, width: number, cardWidth: number): HandLayout {
  const sizes = rowSizes(cards, width, cardWidth)
  const cardHeight = cardWidth * cardAspect
  const rowStep = Math.max(tapWidth, cardHeight * 0.56)
  const longest = Math.max(1, ...sizes)
  const step = longest > 1 ? Math.min(cardWidth + 6, (width - cardWidth) / (longest - 1)) : 0
  const placed = sizes.flatMap((size, row) =>
    Array.from({ length: size }, (_, index): HandCard => {
      const rowWidth = cardWidth + step * (size - 1)
      return {
        x: (width - rowWidth) / 2 + index * step,
        y: row * rowStep,
        rotate: 0,
        width: index === size - 1 ? cardWidth : Math.min(step, cardWidth),
        height: row === sizes.length - 1 ? cardHeight : Math.min(rowStep, cardHeight),
      }
    }),
  )
  return { cards: placed, height: sizes.length === 0 ? 0 : (sizes.length - 1) * rowStep + cardHeight }
}

/** Where an arrow key leads from `index`, stopping at the ends. */
export function moveInHand(index: number, key: string, cards: number): number | null {
  if (cards === 0) return null
  const last = cards - 1
  switch (key) {
    case 'ArrowLeft':
      return Math.max(0, index - 1)
    case 'ArrowRight':
      return Math.min(last, index + 1)
    case 'Home':
      return 0
    case 'End':
      return last
    default:
      return null
  }
}
