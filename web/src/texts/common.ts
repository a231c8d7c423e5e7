/** Start, lobby, connection and errors. The table's own words are in `table.ts`. */

/** `1 card`, `2 cards`. */
export const count = (n: number, one: string, many: string): string => `${n} ${n === 1 ? one : many}`

export const common = {
  title: 'Wizard',
}
