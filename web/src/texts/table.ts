/** The table, the score sheet and the end of a game. */
export const table = {}
