/**
 * Every text that a person reads. One language for now; a second one is a second object of the same
 * shape. Nothing else in the client holds words.
 */
import { common } from './texts/common'
import { help } from './texts/help'
import { table } from './texts/table'

export const texts = { ...common, help, table }
