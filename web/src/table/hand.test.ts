import { describe, expect, it } from 'vitest'
import { fan, moveInHand, rowCardWidth, rows, rowSizes, tapWidth } from './hand'

const phones = [390, 360, 320].map((screen) => screen - 16)

describe('a hand in rows', () => {
  it.each(phones)('leaves a finger room for every card of every hand, %i pixels wide', (width) => {
    for (let cards = 1; cards <= 20; cards++) {
      const cardWidth = rowCardWidth(cards, width, 80)
      const layout = rows(cards, width, cardWidth)
      expect(layout.cards).toHaveLength(cards)
      for (const [index, card] of layout.cards.entries()) {
        const next = layout.cards[index + 1]
        if (next !== undefined && next.y === card.y) {
          expect(next.x - card.x).toBeGreaterThanOrEqual(tapWidth)
        } else if (next !== undefined) {
          expect(next.y - card.y).toBeGreaterThanOrEqual(tapWidth)
        }
        expect(card.width).toBeGreaterThanOrEqual(tapWidth)
        expect(card.height).toBeGreaterThanOrEqual(tapWidth)
        expect(card.x).toBeGreaterThanOrEqual(0)
        expect(card.x + cardWidth).toBeLessThanOrEqual(width + 0.01)
      }
    }
  })

  it('takes as few rows as that allows', () => {
    const width = 374
    const sizes = (cards: number): number[] => rowSizes(cards, width, rowCardWidth(cards, width, 80))
    expect(sizes(0)).toEqual([])
    expect(sizes(7)).toEqual([7])
    expect(sizes(10)).toEqual([5, 5])
    expect(sizes(15)).toEqual([8, 7])
    expect(sizes(20)).toEqual([7, 7, 6])
  })

  it('makes few cards large and stays under a low screen’s limit', () => {
    expect(rowCardWidth(5, 374, 80)).toBe(78)
    expect(rowCardWidth(5, 374, 61)).toBe(60)
    expect(rowCardWidth(16, 374, 80)).toBeLessThan(rowCardWidth(10, 374, 80))
  })
})

describe('a fan', () => {
  const card = { width: 106, height: 148 }

  it.each([1, 2, 7, 10, 20])('of %i cards stays inside its room, the middle upright', (cards) => {
    const layout = fan(cards, 1100, card)
    for (const { x } of layout.cards) {
      expect(x).toBeGreaterThanOrEqual(0)
      expect(x + card.width).toBeLessThanOrEqual(1100)
    }
    const leans = layout.cards.map(({ rotate }) => rotate)
    expect(leans.reduce((sum, lean) => sum + lean, 0)).toBeCloseTo(0)
    expect(leans).toEqual([...leans].sort((a, b) => a - b))
  })

  it('shows every corner of twenty', () => {
    const { cards } = fan(20, 1100, card)
    for (const [index, { x }] of cards.slice(1).entries()) {
      expect(x - (cards[index]?.x ?? 0)).toBeGreaterThanOrEqual(tapWidth)
    }
  })
})

it('moves by arrows, and stops at the ends', () => {
  expect(moveInHand(0, 'ArrowLeft', 3)).toBe(0)
  expect(moveInHand(0, 'ArrowRight', 3)).toBe(1)
  expect(moveInHand(2, 'ArrowRight', 3)).toBe(2)
  expect(moveInHand(1, 'Home', 3)).toBe(0)
  expect(moveInHand(1, 'End', 3)).toBe(2)
  expect(moveInHand(1, 'x', 3)).toBeNull()
  expect(moveInHand(0, 'ArrowLeft', 0)).toBeNull()
})
