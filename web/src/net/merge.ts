/**
 * Completes partial states. The server leaves out `lobby`, `sheet` and `last_trick` when they are as in
 * the last state of this connection; a null stays a value.
 *
 * Invariant: one `Merger` a connection, since "as before" never reaches across a reconnect.
 */
import type { LastTrick, Lobby, SheetRound, State, StateMessage } from '../protocol'

export class Merger {
  #lobby: Lobby | null = null
  // Kept while there is no game: whoever leaves and comes back may be told "as before" again.
  #sheet: SheetRound[] = []
  #lastTrick: LastTrick | null = null

  complete(message: StateMessage): State {
    if (message.lobby !== undefined) this.#lobby = message.lobby
    const { seq, events, game = null } = message
    if (!game) return { seq, lobby: this.#lobby, game: null, events }

    const { sheet, last_trick } = game.observation
    if (sheet !== undefined) this.#sheet = sheet
    if (last_trick !== undefined) this.#lastTrick = last_trick
    const observation = { ...game.observation, sheet: this.#sheet, last_trick: this.#lastTrick }
    return { seq, lobby: this.#lobby, game: { ...game, observation }, events }
  }
}
