import { describe, expect, it } from 'vitest'
import { decode } from './decode'

describe('decode', () => {
  it('reads each kind of message', () => {
    const messages = [
      { type: 'welcome', player_id: 'a', token: 't', name: null, reconnect_within_ms: 5000 },
      { type: 'server_status', level: 'normal', accepting_games: true, reason: null, retry_after_ms: null },
      { type: 'state', seq: 1, lobby: null, game: null, events: [] },
      { type: 'error', code: 'busy', message: 'no' },
      { type: 'pong' },
    ]
    for (const message of messages) expect(decode(JSON.stringify(message))).toEqual(message)
  })

  it('keeps fields that it does not know', () => {
    expect(decode('{"type":"pong","nonce":"n","later":1}')).toMatchObject({ later: 1 })
  })

  it.each([
    '',
    'null',
    '[]',
    '"state"',
    '{"type":7}',
    '{"type":"unheard_of"}',
    '{"type":"toString"}',
    '{"type":"state","seq":"1","events":[]}',
    '{"type":"state","seq":1,"events":[],"game":{"observation":null}}',
    '{"type":"state","seq":1,"events":[],"lobby":[]}',
    '{"type":"welcome"}',
    '{"type":"error"}',
    '{"type":"state"',
  ])('takes %j for nothing', (text) => {
    expect(decode(text)).toBeNull()
  })
})
