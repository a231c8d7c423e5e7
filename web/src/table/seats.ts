/**
 * Where everybody sits, seen from one's own seat: own at the bottom, the others clockwise from the
 * left. Pure geometry in pixels or fractions; nothing here measures the page.
 */

export type Point = { x: number; y: number }
export type Size = { width: number; height: number }
export type Place = Point & { rotate: number }

/** The other seats clockwise from the left of `bottom`. */
export function othersClockwise(seats: number, bottom: number): number[] {
  return Array.from({ length: seats - 1 }, (_, step) => (bottom + 1 + step) % seats)
}

/**
 * Where the plates of the others stand along the table's edge, as fractions of the room that is
 * left for a plate's centre: 0 is flush left or top, 1 flush right or bottom.
 */
const edge: Record<number, Point[]> = {
  1: [{ x: 0.5, y: 0 }],
  2: [
    { x: 0.1, y: 0.2 },
    { x: 0.9, y: 0.2 },
  ],
  3: [
    { x: 0, y: 0.5 },
    { x: 0.5, y: 0 },
    { x: 1, y: 0.5 },
  ],
  4: [
    { x: 0, y: 0.6 },
    { x: 0.2, y: 0 },
    { x: 0.8, y: 0 },
    { x: 1, y: 0.6 },
  ],
  5: [
    { x: 0, y: 0.74 },
    { x: 0.04, y: 0.16 },
    { x: 0.5, y: 0 },
    { x: 0.96, y: 0.16 },
    { x: 1, y: 0.74 },
  ],
}

/** Centres of the others' plates in `room`, none of them reaching over its edge. */
export function platePlaces(others: number, room: Size, plate: Size): Point[] {
  return (edge[others] ?? []).map(({ x, y }) => ({
    x: plate.width / 2 + x * Math.max(0, room.width - plate.width),
    y: plate.height / 2 + y * Math.max(0, room.height - plate.height),
  }))
}

/** Height of a card of width 1. */
export const cardAspect = 7 / 5

const largestTrickCard = 108
const smallestTrickCard = 40

/** Radii of the ring of cards, in cards' heights and widths: just wide enough that none covers another. */
const ring: Record<number, { across: number; down: number }> = {
  3: { across: 1.2, down: 0.52 },
  4: { across: 1.16, down: 0.6 },
  5: { across: 1.3, down: 0.93 },
  6: { across: 1.3, down: 1.07 },
}

export type TrickLayout = { cardWidth: number; places: Place[] }

/**
 * Where each seat's card lies, from the middle of `room`, by seat number; cards as large as fit
 * without covering each other.
 */
export function trickLayout(seats: number, bottom: number, room: Size): TrickLayout {
  return room.width > flatRoom * room.height
    ? twoRows(seats, bottom, room)
    : aroundTheMiddle(seats, bottom, room)
}

/** In a room so many times wider than high, a ring of cards would lie in a heap. */
const flatRoom = 2.4

/** A phone held sideways: the others' cards in a row, each below its plate, the own one below them. */
function twoRows(seats: number, bottom: number, room: Size): TrickLayout {
  const step = room.width / Math.max(1, seats - 1)
  const byHeight = room.height / 2.02 / cardAspect
  const cardWidth = Math.max(smallestTrickCard, Math.min(byHeight, step * 0.9, largestTrickCard))
  const y = Math.max(0, (room.height - cardWidth * cardAspect) / 2)
  const places = Array.from({ length: seats }, (_, seat): Place => {
    const index = (seat - bottom + seats) % seats
    if (index === 0) return { x: 0, y, rotate: leanOf(index) }
    return { x: (index - seats / 2) * step, y: -y, rotate: leanOf(index) }
  })
  return { cardWidth, places }
}

/** A hand never lays a card down quite straight; the same seat always the same way. */
const leanOf = (step: number): number => ((step * 37) % 9) - 4

function aroundTheMiddle(seats: number, bottom: number, room: Size): TrickLayout {
  const { across, down } = ring[seats] ?? { across: 1.3, down: 1.07 }
  const byHeight = room.height / (2 * down + 1) / cardAspect
  const byWidth = room.width / (2 * across + 1)
  const cardWidth = Math.max(smallestTrickCard, Math.min(byHeight, byWidth, largestTrickCard))
  const cardHeight = cardWidth * cardAspect
  const spread = (free: number, radius: number, card: number): number =>
    Math.max(radius * card, Math.min((free - card) / 2, radius * card * 1.3))
  const radius: Point = {
    x: spread(room.width, across, cardWidth),
    y: Math.min(Math.max(0, (room.height - cardHeight) / 2), spread(room.height, down, cardHeight)),
  }
  const places = Array.from({ length: seats }, (_, seat): Place => {
    const step = (seat - bottom + seats) % seats
    const angle = Math.PI / 2 + (2 * Math.PI * step) / seats
    return {
      x: Math.cos(angle) * radius.x,
      y: Math.sin(angle) * radius.y,
      rotate: leanOf(step),
    }
  })
  return { cardWidth, places }
}
