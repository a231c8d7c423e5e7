/**
 * Addresses: where the server's socket is, and how a table's code stands in the link.
 *
 * The code is in the fragment, `…/#/ABC234`: it needs no route on the server, works under any path
 * prefix, and no access log sees it.
 */

const CODE_LENGTH = 6
/** No 0, O, 1 or I: what can be misread is in no code. */
const CODE = /^[A-HJ-NP-Z2-9]{6}$/

/** `https://host/prefix/` → `wss://host/prefix/ws`. */
export function socketUrl(base: string): string {
  const url = new URL('ws', base)
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
  url.hash = ''
  url.search = ''
  return url.href
}

export function inviteLink(base: string, code: string): string {
  const url = new URL('.', base)
  url.search = ''
  url.hash = `/${code}`
  return url.href
}

/** The code in an address's fragment, or null. */
export function codeOfHash(hash: string): string | null {
  const code = hash.replace(/^#?\/?/, '').toUpperCase()
  return CODE.test(code) ? code : null
}

/**
 * What a person typed or pasted as a code: any case, spaces and dashes between, or a whole link. Letters
 * that no code has are dropped.
 */
export function tidyCode(typed: string): string {
  const fragment = typed.indexOf('#')
  const text = fragment >= 0 ? typed.slice(fragment + 1) : typed
  return text
    .toUpperCase()
    .replace(/[^A-HJ-NP-Z2-9]/g, '')
    .slice(0, CODE_LENGTH)
}

export const isCode = (code: string): boolean => CODE.test(code)
