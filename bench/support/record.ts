import type { Figure } from './figure.ts'
import { fromRoot } from './server.ts'
import { short } from './table.ts'

/** Median ratios of earlier runs, by benchmark and then by figure. */
export type Recorded = Record<string, Record<string, number>>

/** A regression is a figure whose best ratio is this many times worse than the recorded one. */
export const TOLERANCE = 1.25

const FILE = fromRoot('bench', 'recorded.json')

export const readRecord = async (): Promise<Recorded> => {
  const file = Bun.file(FILE)
  return (await file.exists()) ? file.json() : {}
}

/** Replaces the ratios of the benchmarks in the report, and keeps those of others. */
export async function record(report: Record<string, Figure[]>) {
  const recorded = await readRecord()
  for (const [bench, figures] of Object.entries(report))
    recorded[bench] = Object.fromEntries(
      figures.map((figure) => [nameOf(figure), Number(figure.ratio.median.toPrecision(3))]),
    )
  await Bun.write(FILE, `${JSON.stringify(recorded, null, 2)}\n`)
}

/**
 * A sentence for each figure that is slower than recorded, compared with its floor. The best round
 * counts, because a busy machine makes rounds worse but never better.
 */
export const regressionsIn = (report: Record<string, Figure[]>, recorded: Recorded): string[] =>
  Object.entries(report).flatMap(([bench, figures]) =>
    figures.flatMap((figure) => {
      const name = nameOf(figure)
      const before = recorded[bench]?.[name]
      if (before === undefined) return [`${bench}, ${name}: not recorded; run it with --record`]
      const { best, isWorse } = compared(figure, before)
      return isWorse ? [`${bench}, ${name}: ${short(best)} instead of ${short(before)}`] : []
    }),
  )

const nameOf = ({ name, unit }: Figure) => `${name} (${unit})`

/** Units of which more is better. */
const RATES = new Set(['req/s', 'deliveries/s', 'sign-ins/s'])

function compared({ unit, ratio }: Figure, before: number) {
  const isMoreBetter = RATES.has(unit)
  const best = isMoreBetter ? ratio.high : ratio.low
  return { best, isWorse: isMoreBetter ? best * TOLERANCE < before : best > before * TOLERANCE }
}
