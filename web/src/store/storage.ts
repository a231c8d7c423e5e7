/**
 * What outlives a reload: the token for this tab, the name for this browser. A browser that stores
 * nothing (private windows, strict settings) plays all the same, without coming back.
 */

type Slot = { read: () => string | null; write: (value: string) => void }

function slot(storage: () => Storage, key: string): Slot {
  return {
    read: () => {
      try {
        return storage().getItem(key)
      } catch {
        return null
      }
    },
    write: (value) => {
      try {
        storage().setItem(key, value)
      } catch {
        // Full or forbidden: the value lives as long as the page.
      }
    },
  }
}

/** Of this tab only: a second tab is a second person. */
export const token = slot(() => sessionStorage, 'wizard.token')

const name = slot(() => localStorage, 'wizard.name')
export const storedName = { ...name, read: (): string => name.read() ?? '' }
