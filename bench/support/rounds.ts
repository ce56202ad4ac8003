/** What one round of one runner came to, by the name of the measure. */
export type Sample = Record<string, number>

export type Runner = () => Sample | Promise<Sample>

export interface Spread {
  median: number
  low: number
  high: number
}

/**
 * Lets the runners take turns, in alternating order, so that a slow moment of the machine
 * falls on all of them. The first turn of each only warms up.
 */
export async function alternate<Name extends string>(
  rounds: number,
  runners: Record<Name, Runner>,
): Promise<Record<Name, Sample[]>> {
  const names = Object.keys(runners) as Name[]
  const samples = Object.fromEntries(names.map((name) => [name, []])) as never as Record<
    Name,
    Sample[]
  >
  for (let round = 0; round <= rounds; round++)
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const sample = await runners[name]()
      if (round > 0) samples[name].push(sample)
    }
  return samples
}

export function spreadOf(values: number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (index: number) => sorted[index] ?? Number.NaN
  const middle = (sorted.length - 1) / 2
  const median = (at(Math.floor(middle)) + at(Math.ceil(middle))) / 2
  return { median, low: at(0), high: at(sorted.length - 1) }
}
