import { describe, expect, it, vi } from 'vitest'
import type { ClientMessage, ErrorCode, State } from '../protocol'
import { texts } from '../texts'
import { Session } from './session.svelte'

function started(): { session: Session; sent: ClientMessage[] } {
  vi.useFakeTimers()
  const sent: ClientMessage[] = []
  const session = new Session()
  session.begin({ start: () => undefined, retry: () => undefined, send: (message) => sent.push(message) })
  return { session, sent }
}

const seated = (seq: number, code = 'ABC234'): State => {
  const lobby = { code, host_id: 'me', players: [{ id: 'me', name: 'Ada' }] }
  return { seq, lobby, game: null, events: [] } as unknown as State
}
const empty: State = { seq: 0, lobby: null, game: null, events: [] }

const refuse = (session: Session, code: string, id?: string, retry_after_ms?: number): void =>
  session.delivered({
    type: 'error',
    error: { type: 'error', code: code as ErrorCode, message: 'for programmers', id, retry_after_ms },
  })

describe('errors', () => {
  it('land where the button was, and go after a while', () => {
    const { session, sent } = started()
    session.send({ type: 'join_lobby', code: 'ABC234', name: 'Ada' })
    expect(session.pending).toBe('join')
    refuse(session, 'lobby_full', sent[0]?.id)
    expect(session.pending).toBeNull()
    expect(session.notices.at('join')).toBe(texts.errors.lobby_full)
    expect(session.notices.at('page')).toBeNull()
    vi.advanceTimersByTime(10_000)
    expect(session.notices.at('join')).toBeNull()
  })

  it('without an id of ours concern the page', () => {
    const { session } = started()
    refuse(session, 'removed')
    expect(session.notices.at('page')).toBe(texts.errors.removed)
  })

  it('say when to try again', () => {
    const { session, sent } = started()
    session.send({ type: 'create_lobby', name: 'Ada' })
    refuse(session, 'busy', sent[0]?.id, 15_000)
    expect(session.notices.at('create')).toContain('15 seconds')
  })

  it('never show a raw code', () => {
    const { session } = started()
    refuse(session, 'a_code_of_tomorrow')
    expect(session.notices.at('page')).toBe(texts.errors.internal)
  })

  it('leave what could not be sent to the person', () => {
    const { session, sent } = started()
    session.send({ type: 'start_game' })
    session.delivered({ type: 'undelivered', message: sent[0] as ClientMessage })
    expect(session.notices.at('start')).toBe(texts.connection.undelivered)
    expect(session.pending).toBeNull()
  })
})

describe('states', () => {
  it('tell who is who', () => {
    const { session } = started()
    session.delivered({
      type: 'welcome',
      welcome: { type: 'welcome', player_id: 'me', token: 't', name: null, reconnect_within_ms: 1 },
    })
    session.delivered({ type: 'state', state: seated(5), first: true })
    expect([session.isHost, session.isSpectator]).toEqual([true, false])
    session.playerId = 'other'
    expect([session.isHost, session.isSpectator]).toEqual([false, true])
  })

  it('never go back, except on a new connection', () => {
    const { session } = started()
    session.delivered({ type: 'state', state: seated(5), first: true })
    session.delivered({ type: 'state', state: seated(4), first: false })
    expect(session.state?.seq).toBe(5)
    session.delivered({ type: 'state', state: seated(3, 'XYZ234'), first: false })
    expect(session.state?.seq).toBe(3)
    session.delivered({ type: 'state', state: seated(2, 'XYZ234'), first: true })
    expect(session.state?.seq).toBe(2)
  })

  it('say so when the seat is gone after a long absence', () => {
    const { session } = started()
    session.delivered({ type: 'state', state: seated(5), first: true })
    session.delivered({ type: 'state', state: empty, first: true })
    expect(session.notices.at('page')).toBe(texts.connection.seatGone)
  })

  it('say nothing when one has left', () => {
    const { session } = started()
    session.delivered({ type: 'state', state: seated(5), first: true })
    session.send({ type: 'leave_lobby' })
    session.delivered({ type: 'state', state: empty, first: false })
    expect(session.notices.at('page')).toBeNull()
  })
})
