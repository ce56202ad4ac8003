/** How the values of several processes become one. */
export type Combine =
  /** Each process counts for itself. */
  | 'sum'
  /** Such as the start of a process. */
  | 'min'
  /** All processes read the same database or disk, so only the scraped one is asked. */
  | 'same'

/** A metric with its values, each under its name and labels as they are written. */
export interface Family {
  name: string
  help: string
  type: 'counter' | 'gauge' | 'histogram'
  combine: Combine
  samples: readonly Sample[]
}

export type Sample = readonly [series: string, value: number]

/** The text format of Prometheus, version 0.0.4. */
export const textOf = (families: readonly Family[]): string =>
  families.map((family) => `${linesOf(family).join('\n')}\n`).join('')

const linesOf = ({ name, help, type, samples }: Family): string[] => [
  `# HELP ${name} ${help}`,
  `# TYPE ${name} ${type}`,
  ...samples.map(([series, value]) => `${series} ${value}`),
]

/** The metrics of several processes as those of one. Families and series keep their order. */
export function merged(processes: readonly (readonly Family[])[]): Family[] {
  const byName = Map.groupBy(processes.flat(), ({ name }) => name)
  return [...byName.values()].flatMap(([first, ...others]) =>
    first ? [{ ...first, samples: mergedSamples([first, ...others]) }] : [],
  )
}

function mergedSamples(families: readonly [Family, ...Family[]]): Sample[] {
  const [{ combine, samples }] = families
  if (combine === 'same') return [...samples]
  const values = new Map<string, number>()
  for (const [series, value] of families.flatMap(({ samples }) => samples)) {
    const known = values.get(series)
    values.set(series, known === undefined ? value : COMBINED[combine](known, value))
  }
  return [...values]
}

const COMBINED = { sum: (a: number, b: number) => a + b, min: Math.min }

/** What remains of a process that has ended: its counts, without which the sums would go back. */
export const lasting = (families: readonly Family[]): Family[] =>
  families.filter(({ type, combine }) => type !== 'gauge' && combine === 'sum')
