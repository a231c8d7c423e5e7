/** The golden messages at the repository's root: what the server's own tests read, the client reads too. */
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { Connection, type Delivery } from './net/connection'
import { decode } from './net/decode'
import { Merger } from './net/merge'

const folder = new URL('../../protocol/golden/server/', import.meta.url)
const golden = readdirSync(folder)
  .filter((file) => file.endsWith('.json'))
  .map((file) => [file, readFileSync(new URL(file, folder), 'utf8')] as const)

describe('golden messages of the server', () => {
  it('are there', () => {
    expect(golden.length).toBeGreaterThan(5)
  })

  it.each(golden)('%s is understood', (_, text) => {
    expect(decode(text)).toEqual(JSON.parse(text))
  })

  it.each(golden.filter(([file]) => file.startsWith('state')))('%s is complete as it is', (_, text) => {
    const message = decode(text)
    if (message?.type !== 'state') throw new Error('no state')
    const { type: _type, ...picture } = message
    expect(new Merger().complete(message)).toEqual(picture)
  })
})

describe('what the client says', () => {
  it('opens as the golden hello does', () => {
    const hello = readFileSync(new URL('../player/hello.json', folder), 'utf8')
    const connection = new Connection(() => 0)
    connection.step(0, { type: 'start', token: null })
    const [output] = connection.step(0, { type: 'opened' })
    if (output?.type !== 'transmit') throw new Error('no hello')
    expect(Object.keys(output.message)).toEqual(expect.arrayContaining(Object.keys(JSON.parse(hello))))
  })

  it('delivers the golden welcome, status and state in that order', () => {
    const deliveries: Delivery['type'][] = []
    const connection = new Connection(() => 0)
    connection.step(0, { type: 'start', token: null })
    connection.step(0, { type: 'opened' })
    for (const name of ['welcome', 'server_status', 'state_waiting']) {
      const message = decode(readFileSync(new URL(`${name}.json`, folder), 'utf8'))
      if (!message) throw new Error(name)
      for (const output of connection.step(0, { type: 'received', message })) {
        if (output.type === 'deliver') deliveries.push(output.delivery.type)
      }
    }
    expect(deliveries).toEqual(['welcome', 'status', 'state'])
    expect(connection.view(0).face).toBe('live')
  })
})
