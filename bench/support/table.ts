import type { Figure } from './figure.ts'
import type { Spread } from './rounds.ts'

const HEAD = ['', 'unit', 'subject', 'floor', 'ratio', 'low..high', 'target']

/** Figures in columns; numbers to the right. */
export function table(figures: Figure[]): string {
  const rows = [HEAD, ...figures.map(cells)]
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows.map((row) => row.map(padTo(widths)).join('  ').trimEnd()).join('\n')
}

const padTo = (widths: number[]) => (cell: string, column: number) =>
  column >= 2 && column <= 4 ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)

const cells = ({ name, unit, subject, floor, ratio, target }: Figure): string[] => [
  name,
  unit,
  short(subject.median),
  short(floor.median),
  short(ratio.median),
  range(ratio),
  target ?? '',
]

const range = ({ low, high }: Spread) => `${short(low)}..${short(high)}`

/** Three digits say all that a shared machine can tell. */
export function short(value: number): string {
  if (!Number.isFinite(value)) return '-'
  if (value >= 100) return Math.round(value).toLocaleString('en')
  return String(Number(value.toPrecision(value < 1 ? 2 : 3)))
}
