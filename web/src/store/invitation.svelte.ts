/**
 * The table's code in the page's address: where an invitation leads, and where one is now.
 *
 * Invariant: once a table has been followed, the address holds its code, except while an invitation to
 * elsewhere waits for an answer.
 */
import { codeOfHash } from '../net/address'

export class Invitation {
  code: string | null = $state(codeOfHash(location.hash))
  /** The table of the last state; undefined before the first. */
  #followed: string | null | undefined = $state()

  constructor() {
    window.addEventListener('hashchange', () => {
      this.code = codeOfHash(location.hash)
    })
  }

  /** Keeps the address with the table one sits at. */
  follow(table: string | null): void {
    if (this.#followed === table) return
    const first = this.#followed === undefined
    this.#followed = table
    // Whoever opens a link, seated elsewhere or not at all, is asked first.
    if (first && this.code !== null) return
    this.show(table)
  }

  /** The code of another table that somebody who sits at `table` was invited to. */
  elsewhere(table: string): string | null {
    return this.#followed === table && this.code !== table ? this.code : null
  }

  /** Puts a code into the address, or none. Leaves no trail in the history. */
  show(code: string | null): void {
    this.code = code
    const { pathname, search } = location
    if (codeOfHash(location.hash) !== code) {
      history.replaceState(null, '', code === null ? pathname + search : `#/${code}`)
    }
  }
}
