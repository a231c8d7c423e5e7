/**
 * Movements as Svelte transitions: a card comes from a point on the screen or goes to one. With
 * reduced motion they are fades. Input never waits for any of them.
 */
import { cubicOut } from 'svelte/easing'
import { prefersReducedMotion } from 'svelte/motion'
import type { TransitionConfig } from 'svelte/transition'
import type { Point } from './seats'

/** A card's middle on the screen, and its width there. */
export type Spot = Point & { width: number }

export type Flight = { spot: Spot | null; duration: number; delay?: number; fade?: boolean }

const nothing: TransitionConfig = { duration: 0 }

export function spotOf(element: Element, width?: number): Spot {
  const box = element.getBoundingClientRect()
  return { x: box.x + box.width / 2, y: box.y + box.height / 2, width: width ?? box.width }
}

/** From or to `spot`; where the element itself lies is measured now. */
export function fly(element: Element, { spot, duration, delay = 0, fade = false }: Flight): TransitionConfig {
  if (duration === 0) return nothing
  if (spot === null || prefersReducedMotion.current) {
    return { duration: Math.min(duration, 180), css: (shown) => `opacity: ${shown}` }
  }
  const own = spotOf(element, (element as HTMLElement).offsetWidth)
  const away: Point = { x: spot.x - own.x, y: spot.y - own.y }
  const scale = own.width > 0 ? spot.width / own.width : 1
  return {
    delay,
    duration,
    easing: cubicOut,
    css: (shown, left) =>
      `transform: translate(${away.x * left}px, ${away.y * left}px) scale(${1 + (scale - 1) * left});` +
      (fade ? `opacity: ${Math.min(1, shown * 1.6)};` : ''),
  }
}
