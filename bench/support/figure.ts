import { type Sample, type Spread, spreadOf } from './rounds.ts'

/** One line of the report: a measure of the subject beside the same measure of its floor. */
export interface Figure {
  name: string
  /** Name of the measure; `req/s` is better when larger, times are better when smaller. */
  unit: string
  subject: Spread
  floor: Spread
  /** Subject divided by floor, round by round. */
  ratio: Spread
  target?: string
}

export function compare(
  name: string,
  unit: string,
  { subject, floor }: { subject: Sample[]; floor: Sample[] },
  target?: string,
): Figure {
  const ours = subject.map((sample) => sample[unit] ?? Number.NaN)
  const theirs = floor.map((sample) => sample[unit] ?? Number.NaN)
  const ratios = ours.map((value, round) => value / (theirs[round] ?? Number.NaN))
  return {
    name,
    unit,
    subject: spreadOf(ours),
    floor: spreadOf(theirs),
    ratio: spreadOf(ratios),
    target,
  }
}
