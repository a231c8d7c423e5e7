/** How long to wait before the next try. `random` is from 0 up to 1, so that a crowd spreads out. */

/** Until a `welcome` has said something else. */
export const RECONNECT_WITHIN_MS = 5_000
const BACKOFF_FIRST_MS = 1_000
const BACKOFF_CEILING_MS = 20_000
/** A full server asks for patience, and everybody waiting asks it again. */
const FULL_FIRST_MS = 15_000
const FULL_CEILING_MS = 120_000

/** After a connection that had worked. */
export const spread = (withinMs: number, random: number): number => Math.round(withinMs * random)

/** After the `failures`th try in a row that reached nothing. */
export function backoff(failures: number, random: number): number {
  const full = Math.min(BACKOFF_FIRST_MS * 2 ** (failures - 1), BACKOFF_CEILING_MS)
  return Math.round(full * (0.5 + random / 2))
}

/** Until hello is said again on a connection where nobody could be recognised just now. */
export const helloAgain = (askedMs: number, random: number): number =>
  Math.round(Math.max(askedMs, BACKOFF_FIRST_MS) * (1 + random / 2))

/** After the `times`th "full" in a row; never sooner than the server asked for. */
export function patience(times: number, askedMs: number, random: number): number {
  const least = Math.max(Math.min(FULL_FIRST_MS * 1.5 ** (times - 1), FULL_CEILING_MS), askedMs)
  return Math.round(least * (1 + random / 2))
}
