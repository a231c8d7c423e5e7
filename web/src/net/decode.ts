/**
 * From a frame's text to a message. Checks what the client leans on, not every field: the server's own
 * tests and the golden messages hold the shapes.
 *
 * Invariant: never throws. A frame that is no message of ours is null, and the connection goes on.
 */
import type { ServerMessage } from '../protocol'

type Json = Record<string, unknown>

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isString = (value: unknown): value is string => typeof value === 'string'
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)

/** What each type needs, so that nothing behind this door has to ask again. */
const shapes: Record<ServerMessage['type'], (message: Json) => boolean> = {
  welcome: (m) => isString(m['player_id']) && isString(m['token']) && isNumber(m['reconnect_within_ms']),
  server_status: (m) => isString(m['level']) && typeof m['accepting_games'] === 'boolean',
  state: (m) =>
    isNumber(m['seq']) &&
    Array.isArray(m['events']) &&
    (m['lobby'] === undefined || m['lobby'] === null || isLobby(m['lobby'])) &&
    (m['game'] === undefined || m['game'] === null || isGame(m['game'])),
  error: (m) => isString(m['code']),
  pong: () => true,
}

const isLobby = (value: unknown): boolean =>
  isObject(value) && isString(value['code']) && Array.isArray(value['players']) && isObject(value['options'])

const isGame = (value: unknown): boolean =>
  isObject(value) && isObject(value['observation']) && isNumber(value['observation']['turn'])

export function decode(text: string): ServerMessage | null {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return null
  }
  if (!isObject(value) || !isString(value['type']) || !Object.hasOwn(shapes, value['type'])) return null
  const shape = shapes[value['type'] as ServerMessage['type']]
  return shape(value) ? (value as unknown as ServerMessage) : null
}
