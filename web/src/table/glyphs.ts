/** The suits' own shapes, in a box of 24 by 24. A shape alone tells a suit, without its colour. */
import type { Suit } from '../protocol'

export type Glyph = {
  body: string
  /** A line or shape inside in the paper's colour, which gives the mark its character. */
  inner: string
  innerStroked: boolean
}

export const glyphs: Record<Suit, Glyph> = {
  blue: {
    body: 'M12 1.6C12 1.6 4.4 10.2 4.4 15.1A7.6 7.4 0 0 0 19.6 15.1C19.6 10.2 12 1.6 12 1.6Z',
    inner: 'M8.1 15.2A3.9 3.9 0 0 0 11.2 18.8',
    innerStroked: true,
  },
  green: {
    body: 'M21.4 2.4C11 2 3.2 7.2 3.3 15.2C3.3 16.6 3.6 17.7 4 18.6L2.3 21.1L4.1 22.4L5.9 19.9C7 20.5 8.3 20.8 9.6 20.7C17.6 20.3 22 12.6 21.4 2.4Z',
    inner: 'M6.6 17.6C9.2 13.6 12.4 10.4 16.8 7.4',
    innerStroked: true,
  },
  red: {
    body: 'M12.6 1.2C13.2 5.6 19.6 8.4 19.6 15.2A7.6 7.6 0 0 1 4.4 15.2C4.4 11.6 6.4 9.4 7.4 6.8C8.5 8.2 9 9.4 9.2 10.8C11.2 8.4 12.4 5 12.6 1.2Z',
    inner: 'M12.2 12.6C12.8 14.6 15 15.6 15 18A3 3 0 0 1 9 18C9 16 11.4 15 12.2 12.6Z',
    innerStroked: false,
  },
  yellow: {
    body: 'M12 1.4L15.2 8.3L22.7 9.2L17.2 14.3L18.6 21.7L12 18.1L5.4 21.7L6.8 14.3L1.3 9.2L8.8 8.3Z',
    inner: 'M12 6.6L13.6 10.1L17.2 10.6',
    innerStroked: true,
  },
}
