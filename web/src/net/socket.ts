/**
 * The driver of `Connection`: the one place with a WebSocket, a clock, chance and a timer.
 * It decides nothing.
 */
import type { ClientMessage } from '../protocol'
import { Connection, type ConnectionView, type Delivery, type Input } from './connection'
import { decode } from './decode'

export type Listener = {
  delivered: (delivery: Delivery) => void
  viewed: (view: ConnectionView) => void
}

export class Link {
  readonly #url: string
  readonly #listener: Listener
  readonly #connection = new Connection(() => Math.random())
  #socket: WebSocket | null = null
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(url: string, listener: Listener) {
    this.#url = url
    this.#listener = listener
  }

  start(token: string | null): void {
    window.addEventListener('online', () => this.#step({ type: 'nudge' }))
    document.addEventListener('visibilitychange', () => {
      if (document.visibilityState === 'visible') this.#step({ type: 'nudge' })
    })
    this.#step({ type: 'start', token })
  }

  send(message: ClientMessage): void {
    this.#step({ type: 'send', message })
  }

  retry(): void {
    this.#step({ type: 'retry' })
  }

  #step(input: Input): void {
    for (const output of this.#connection.step(Date.now(), input)) {
      if (output.type === 'open') this.#open()
      else if (output.type === 'close') this.#drop()
      else if (output.type === 'transmit') this.#socket?.send(JSON.stringify(output.message))
      else this.#listener.delivered(output.delivery)
    }
    this.#arm()
    this.#listener.viewed(this.#connection.view(Date.now()))
  }

  #arm(): void {
    clearTimeout(this.#timer)
    const nowMs = Date.now()
    const deadlineMs = this.#connection.deadlineMs(nowMs)
    if (deadlineMs === null) return
    this.#timer = setTimeout(() => this.#step({ type: 'wake' }), Math.max(0, deadlineMs - nowMs))
  }

  #open(): void {
    this.#drop()
    const socket = new WebSocket(this.#url)
    this.#socket = socket
    socket.onopen = () => this.#step({ type: 'opened' })
    socket.onmessage = ({ data }) => {
      const message = typeof data === 'string' ? decode(data) : null
      if (message) this.#step({ type: 'received', message })
    }
    socket.onclose = ({ code }) => {
      this.#socket = null
      this.#step({ type: 'closed', code })
    }
  }

  /** What an abandoned socket still says concerns nobody. */
  #drop(): void {
    const socket = this.#socket
    if (!socket) return
    this.#socket = null
    socket.onopen = socket.onmessage = socket.onclose = null
    socket.close()
  }
}
