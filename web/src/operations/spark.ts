/** A line from the oldest value to the newest, which ends at the right edge. */

/** Values that fill the whole width: ten minutes. */
const FULL = 120

export function line(values: number[], width: number, height: number): string {
  const greatest = Math.max(1, ...values)
  const step = width / (FULL - 1)
  const inner = height - 3
  const points = values.map((value, index) => {
    const x = width - 1 - (values.length - 1 - index) * step
    const y = 1.5 + inner * (1 - value / greatest)
    return `${x.toFixed(1)} ${y.toFixed(1)}`
  })
  const [first] = points
  if (first === undefined) return ''
  // A point alone would not show.
  return `M${points.length === 1 ? `${first}L${first}` : points.join('L')}`
}
