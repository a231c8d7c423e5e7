/** Makes a screenshot small: 160 colours of its own instead of sixteen million. No library: Node has zlib. */
import { crc32, deflateSync, inflateSync } from 'node:zlib'

const COLOURS = 160
const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])

/** A PNG of 8 bits a channel, as browsers write it, as one with a palette. */
export function small(png: Buffer): Buffer {
  const { width, height, pixels } = decode(png)
  const { palette, index } = quantise(pixels)
  const rows = Buffer.alloc(height * (width + 1))
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      rows[y * (width + 1) + 1 + x] = index[bin(pixels, (y * width + x) * 3)] ?? 0
    }
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 3, 0, 0, 0], 8)
  const chunks = [
    chunk('IHDR', header),
    chunk('PLTE', Buffer.from(palette.flat())),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]
  return Buffer.concat([SIGNATURE, ...chunks])
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  check.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, check])
}

function decode(png: Buffer): { width: number; height: number; pixels: Buffer } {
  const [width, height, channels] = [png.readUInt32BE(16), png.readUInt32BE(20), png[25] === 6 ? 4 : 3]
  const parts: Buffer[] = []
  for (let at = 8; at < png.length;) {
    const length = png.readUInt32BE(at)
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT') parts.push(png.subarray(at + 8, at + 8 + length))
    at += length + 12
  }
  const raw = inflateSync(Buffer.concat(parts))
  const stride = width * channels
  const lines = Buffer.alloc(height * stride)
  for (let y = 0; y < height; y += 1) {
    const filter = raw[y * (stride + 1)]
    for (let i = 0; i < stride; i += 1) {
      const left = i >= channels ? (lines[y * stride + i - channels] ?? 0) : 0
      const up = y > 0 ? (lines[(y - 1) * stride + i] ?? 0) : 0
      const corner = y > 0 && i >= channels ? (lines[(y - 1) * stride + i - channels] ?? 0) : 0
      const guess = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter ?? 0] ?? 0
      lines[y * stride + i] = (raw[y * (stride + 1) + 1 + i] ?? 0) + guess
    }
  }
  const pixels = Buffer.alloc(width * height * 3)
  for (let i = 0; i < width * height; i += 1) lines.copy(pixels, i * 3, i * channels, i * channels + 3)
  return { width, height, pixels }
}

function paeth(left: number, up: number, corner: number): number {
  const guess = left + up - corner
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)]
  if (a <= b && a <= c) return left
  return b <= c ? up : corner
}

/** Pixels that differ in the last two bits only share a bin. */
function bin(pixels: Buffer, at: number): number {
  const channel = (offset: number): number => (pixels[at + offset] ?? 0) >> 2
  return (channel(0) << 12) | (channel(1) << 6) | channel(2)
}

type Bin = { key: number; count: number; colour: [number, number, number] }

/** Median cut: the box that spreads most is split until there are enough, and each becomes its mean. */
function quantise(pixels: Buffer): { palette: number[][]; index: Uint8Array } {
  const bins = new Map<number, Bin>()
  for (let at = 0; at < pixels.length; at += 3) {
    const key = bin(pixels, at)
    const known = bins.get(key)
    const colour: Bin['colour'] = [pixels[at] ?? 0, pixels[at + 1] ?? 0, pixels[at + 2] ?? 0]
    if (known) known.count += 1
    else bins.set(key, { key, count: 1, colour })
  }
  const boxes = [[...bins.values()]]
  while (boxes.length < COLOURS) {
    const spreads = boxes.map((box, place) => ({ ...spread(box), place }))
    const nothing = { weight: 0, axis: 0, place: -1 }
    const widest = spreads.reduce((best, one) => (one.weight > best.weight ? one : best), nothing)
    const box = boxes[widest.place]
    if (!box || box.length < 2) break
    box.sort((one, other) => (one.colour[widest.axis] ?? 0) - (other.colour[widest.axis] ?? 0))
    boxes.push(box.splice(box.length >> 1))
  }
  const index = new Uint8Array(1 << 18)
  const palette = boxes.map((box, place) => {
    for (const { key } of box) index[key] = place
    const total = box.reduce((sum, { count }) => sum + count, 0)
    return [0, 1, 2].map((axis) =>
      Math.round(box.reduce((sum, { count, colour }) => sum + count * (colour[axis] ?? 0), 0) / total),
    )
  })
  return { palette, index }
}

function spread(box: Bin[]): { weight: number; axis: number } {
  const ranges = [0, 1, 2].map((axis) => {
    const values = box.map(({ colour }) => colour[axis] ?? 0)
    return values.reduce((a, b) => Math.max(a, b)) - values.reduce((a, b) => Math.min(a, b))
  })
  const axis = ranges.indexOf(Math.max(...ranges))
  const pixels = box.reduce((sum, { count }) => sum + count, 0)
  return { weight: (ranges[axis] ?? 0) * Math.sqrt(pixels), axis }
}
