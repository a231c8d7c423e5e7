import type { State } from '../protocol'

/** Whether the game waits for whoever looks at this page. */
export function isMyTurn(state: State | null): boolean {
  const game = state?.game
  return game !== null && game !== undefined && game.you !== null && game.observation.to_act === game.you
}
