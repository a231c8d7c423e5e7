/** How this person likes to play, kept in this browser. Nothing of it is known to the server. */

const oneTapKey = 'wizard.one_tap'

function read(key: string): boolean {
  try {
    return localStorage.getItem(key) === 'yes'
  } catch {
    return false // storage is forbidden: the setting lasts as long as the page
  }
}

class Settings {
  #oneTap = $state(read(oneTapKey))

  /** On a touch screen the first tap plays; otherwise it lifts the card and the second plays. */
  get oneTap(): boolean {
    return this.#oneTap
  }

  set oneTap(on: boolean) {
    this.#oneTap = on
    try {
      localStorage.setItem(oneTapKey, on ? 'yes' : 'no')
    } catch {
      // as above
    }
  }
}

export const settings = new Settings()
