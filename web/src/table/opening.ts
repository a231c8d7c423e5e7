/** What may lie open over the table; one thing at a time. */
import type { SeatView } from './seatview'

export type Opening =
  | { what: 'sheet' }
  | { what: 'last_trick' }
  | { what: 'settings' }
  | { what: 'help' }
  | { what: 'leave' }
  | { what: 'replace'; view: SeatView }
