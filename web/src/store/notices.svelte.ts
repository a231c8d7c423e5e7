/**
 * Sentences about something that went wrong, each near where it happened and gone after a while.
 * One a place: a newer one replaces the older.
 */
import { SvelteMap } from 'svelte/reactivity'

/** Where on the screen a person looks when it happens. */
export type Place = 'create' | 'quick_play' | 'join' | 'seats' | 'options' | 'start' | 'table' | 'page'

const SHOWN_MS = 7_000
/** What concerns the whole page is read from further away. */
const SHOWN_ON_PAGE_MS = 12_000

export class Notices {
  readonly #texts = new SvelteMap<Place, string>()
  readonly #timers = new Map<Place, ReturnType<typeof setTimeout>>()

  at(place: Place): string | null {
    return this.#texts.get(place) ?? null
  }

  show(place: Place, text: string): void {
    clearTimeout(this.#timers.get(place))
    this.#texts.set(place, text)
    const shownMs = place === 'page' ? SHOWN_ON_PAGE_MS : SHOWN_MS
    this.#timers.set(
      place,
      setTimeout(() => this.#texts.delete(place), shownMs),
    )
  }

  clear(place: Place): void {
    clearTimeout(this.#timers.get(place))
    this.#texts.delete(place)
  }
}
