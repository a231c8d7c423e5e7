/** Bids typed as digits. A first digit that could go on (1 of 12) waits a moment or for Enter. */
import { typeDigit } from './bids'

const nextDigitMs = 900

export class BidKeys {
  typed = $state('')
  #bid: (value: number) => void
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(bid: (value: number) => void) {
    this.#bid = bid
  }

  press(event: KeyboardEvent, legal: number[]): void {
    if (event.key === 'Enter' && this.typed !== '') {
      event.preventDefault()
      this.#finish(legal)
    } else if (event.key === 'Escape') {
      this.forget()
    } else if (/^[0-9]$/.test(event.key)) {
      const meant = typeDigit(this.typed, event.key, legal)
      this.forget()
      if ('bid' in meant) this.#bid(meant.bid)
      if ('pending' in meant) {
        this.typed = meant.pending
        this.#timer = setTimeout(() => this.#finish(legal), nextDigitMs)
      }
    }
  }

  forget(): void {
    clearTimeout(this.#timer)
    this.typed = ''
  }

  #finish(legal: number[]): void {
    const value = Number(this.typed)
    this.forget()
    if (legal.includes(value)) this.#bid(value)
  }
}
