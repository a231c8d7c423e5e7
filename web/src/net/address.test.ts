import { describe, expect, it } from 'vitest'
import { codeOfHash, inviteLink, socketUrl, tidyCode } from './address'

describe('addresses', () => {
  it.each([
    ['http://127.0.0.1:8080/', 'ws://127.0.0.1:8080/ws'],
    ['https://play.example/', 'wss://play.example/ws'],
    ['https://example.org/games/wizard/', 'wss://example.org/games/wizard/ws'],
    ['https://example.org/games/wizard/index.html?x=1#/ABC234', 'wss://example.org/games/wizard/ws'],
  ])('finds the socket of %s', (base, url) => {
    expect(socketUrl(base)).toBe(url)
  })

  it('makes a link that its own reader understands', () => {
    const link = inviteLink('https://example.org/wizard/index.html?x=1#/OLD222', 'ABC234')
    expect(link).toBe('https://example.org/wizard/#/ABC234')
    expect(codeOfHash(new URL(link).hash)).toBe('ABC234')
  })

  it.each([
    ['#/abc234', 'ABC234'],
    ['#ABC234', 'ABC234'],
    ['', null],
    ['#/ABC23', null],
    ['#/ABC2340', null],
    ['#/ABO234', null],
  ])('reads %j as %j', (hash, code) => {
    expect(codeOfHash(hash)).toBe(code)
  })

  it.each([
    [' abc 234 ', 'ABC234'],
    ['abc-234', 'ABC234'],
    ['https://example.org/wizard/#/ABC234', 'ABC234'],
    ['ABC2345', 'ABC234'],
    ['a0b1', 'AB'],
  ])('tidies %j to %j', (typed, code) => {
    expect(tidyCode(typed)).toBe(code)
  })
})
