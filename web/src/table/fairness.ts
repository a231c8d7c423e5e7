/** Checks in the browser that the opened seed is the one that was promised before the first card. */

export type Verdict = 'right' | 'wrong' | 'unable' | 'no_seed'

const seedBytes = 32

function bytesOf(hex: string): Uint8Array<ArrayBuffer> | null {
  if (hex.length !== seedBytes * 2 || !/^[0-9a-f]*$/i.test(hex)) return null
  return Uint8Array.from({ length: seedBytes }, (_, index) =>
    Number.parseInt(hex.slice(index * 2, index * 2 + 2), 16),
  )
}

/** SHA-256 of the seed's bytes against the commitment; browsers offer it on secure pages only. */
export async function checkDeal(commitment: string, seed: string | null): Promise<Verdict> {
  if (seed === null) return 'no_seed'
  const bytes = bytesOf(seed)
  if (bytes === null) return 'wrong'
  const subtle = globalThis.crypto?.subtle as SubtleCrypto | undefined
  if (subtle === undefined) return 'unable'
  const digest = new Uint8Array(await subtle.digest('SHA-256', bytes))
  const hex = [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return hex === commitment.toLowerCase() ? 'right' : 'wrong'
}
