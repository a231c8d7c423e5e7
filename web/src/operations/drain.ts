/** Asks a node to leave. The token is only ever in this page's memory. */

export type Refusal = 'token' | 'forbidden' | 'unknown' | 'failed'

/** None if it was asked. */
export async function drain(id: string, token: string): Promise<Refusal | null> {
  try {
    const answer = await fetch(`nodes/${encodeURIComponent(id)}/drain`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
    })
    if (answer.status === 202) return null
    if (answer.status === 401) return 'token'
    if (answer.status === 403) return 'forbidden'
    return answer.status === 404 ? 'unknown' : 'failed'
  } catch {
    return 'failed' // no answer, or a token that no header can carry
  }
}
