/**
 * Measures the tests: plants one fault at a time, runs the tests that run its line, and lists the
 * faults that no test finds.
 *
 *     bun run mutation                        four faults of each kind in each area
 *     bun run mutation --only delivery/ --most 20
 *
 * `--only` limits the faults to paths that contain the text; `--most` sets how many there are of each
 * kind in each area. Results go to `dist/mutation` (`--into`). The coverage that leads from a line to
 * its tests is kept there until something in `src`, `views` or `tests/support` changes.
 */
import { mkdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { coverageOf } from './mutation/coverage.ts'
import { mutantsOf } from './mutation/mutants.ts'
import { type Outcome, runMutants } from './mutation/run.ts'

const root = join(import.meta.dir, '..')
const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    most: { type: 'string', default: '4' },
    workers: { type: 'string', default: `${availableParallelism()}` },
    into: { type: 'string', default: join(root, 'dist/mutation') },
  },
})
const workers = Number(values.workers)
mkdirSync(values.into, { recursive: true })
const cache = join(values.into, 'coverage.json')

const coverage = await coverageOf(root, workers, cache)
const all = await mutantsOf(root, Number(values.most))
const mutants = all.filter(({ path }) => path.includes(values.only))
const outcomes: Outcome[] = []
const done = (outcome: Outcome) => {
  outcomes.push(outcome)
  if (outcome.outcome !== 'found') console.log(described(outcome))
}
await runMutants({ root, mutants, coverage, workers, done })
await Bun.write(join(values.into, 'outcomes.json'), JSON.stringify(outcomes, null, 2))

const found = outcomes.filter(({ outcome }) => outcome === 'found' || outcome === 'hung').length
console.log(`\n${found} of ${outcomes.length} faults found`)

function described({ outcome, operator, path, line, original, replacement }: Outcome): string {
  const change = `  - ${original.trim()}\n  + ${replacement.trim()}`
  return `${outcome}: ${operator} in ${path}:${line}\n${change}`
}
