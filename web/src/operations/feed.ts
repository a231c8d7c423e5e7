/** The gateway's events. Comes back by itself for ever; a stream that falls silent is opened anew. */
import type { Fleet } from './fleet.svelte'

/** The gateway says something every second. */
const SILENT_AFTER_MS = 8_000
const LOOK_EVERY_MS = 500
/** After an answer that is no stream, e.g. from a proxy whose gateway is away. */
const RETRY_MS = 2_000

export class Feed {
  #url: string
  #fleet: Fleet
  #source: EventSource | null = null
  #heard = 0
  #retryAt = 0

  constructor(url: string, fleet: Fleet) {
    this.#url = url
    this.#fleet = fleet
  }

  /** Runs for as long as the page is open. */
  start(): void {
    this.#open()
    setInterval(() => this.#look(), LOOK_EVERY_MS)
  }

  #open(): void {
    this.#source?.close()
    const source = new EventSource(this.#url)
    this.#source = source
    this.#heard = Date.now()
    const fleet = this.#fleet
    const take = <T>(name: string, taken: (data: T) => void): void => {
      source.addEventListener(name, (event: MessageEvent<string>) => {
        if (this.#source !== source) return
        this.#heard = Date.now()
        fleet.tick(this.#heard)
        taken(JSON.parse(event.data) as T)
      })
    }
    take('snapshot', fleet.snapshot.bind(fleet))
    take('history', fleet.history.bind(fleet))
    take('trails', fleet.trails.bind(fleet))
    take('joined', fleet.joined.bind(fleet))
    take('changed', fleet.changed.bind(fleet))
    take('left', fleet.left.bind(fleet))
    take('beats', fleet.beats.bind(fleet))
    source.addEventListener('error', () => {
      if (this.#source !== source) return
      fleet.lost()
      // Otherwise it tries again by itself.
      if (source.readyState === EventSource.CLOSED) this.#retryAt = Date.now() + RETRY_MS
    })
  }

  #look(): void {
    const now = Date.now()
    this.#fleet.tick(now)
    const silent = this.#source?.readyState === EventSource.OPEN && now - this.#heard > SILENT_AFTER_MS
    if (silent) this.#fleet.lost()
    if (silent || (this.#source?.readyState === EventSource.CLOSED && now >= this.#retryAt)) this.#open()
  }
}
