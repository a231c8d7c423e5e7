import { describe, expect, it } from 'vitest'
import { cardAspect, othersClockwise, platePlaces, trickLayout, type Size } from './seats'

describe('seats around the table', () => {
  it('puts the others clockwise from the left of whoever looks', () => {
    expect(othersClockwise(4, 0)).toEqual([1, 2, 3])
    expect(othersClockwise(4, 2)).toEqual([3, 0, 1])
    expect(othersClockwise(6, 5)).toEqual([0, 1, 2, 3, 4])
  })

  it.each([2, 3, 4, 5])('keeps the plates of %i others inside the room and left to right', (others) => {
    const room = { width: 1100, height: 520 }
    const plate = { width: 222, height: 68 }
    const places = platePlaces(others, room, plate)
    expect(places).toHaveLength(others)
    for (const { x, y } of places) {
      expect(x).toBeGreaterThanOrEqual(plate.width / 2)
      expect(x).toBeLessThanOrEqual(room.width - plate.width / 2)
      expect(y).toBeGreaterThanOrEqual(plate.height / 2)
      expect(y).toBeLessThanOrEqual(room.height - plate.height / 2)
    }
    const across = places.map(({ x }) => x)
    expect(across).toEqual([...across].sort((a, b) => a - b))
  })
})

const rooms: Size[] = [
  { width: 640, height: 420 },
  { width: 370, height: 300 },
  { width: 340, height: 220 },
  { width: 560, height: 140 },
]

describe.each(rooms)('a trick in $width by $height', (room) => {
  it.each([3, 4, 5, 6])('shows %i cards whole and none over another', (seats) => {
    const { cardWidth, places } = trickLayout(seats, 0, room)
    const cardHeight = cardWidth * cardAspect
    for (const { x, y } of places) {
      expect(Math.abs(x) + cardWidth / 2).toBeLessThanOrEqual(room.width / 2 + 0.01)
      expect(Math.abs(y) + cardHeight / 2).toBeLessThanOrEqual(room.height / 2 + 0.01)
    }
    for (const [one, a] of places.entries()) {
      for (const b of places.slice(one + 1)) {
        const apart = Math.abs(a.x - b.x) >= cardWidth || Math.abs(a.y - b.y) >= cardHeight * 0.99
        expect(apart, `seats of ${seats}`).toBe(true)
      }
    }
  })

  it('puts the own card lowest, and the next seat to the left', () => {
    const { places } = trickLayout(5, 3, room)
    expect(Math.max(...places.map(({ y }) => y))).toBe(places[3]?.y)
    expect(places[4]?.x).toBeLessThan(0)
    expect(places[2]?.x).toBeGreaterThan(0)
  })
})
