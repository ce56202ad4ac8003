/**
 * Runs two servers that take over from each other, with Litestream and object storage on this machine,
 * makes trouble while clients work, and compares what was acknowledged with what is there afterwards.
 * `bun run failover --help` has the scenarios. Exits with 1 if a rule was broken.
 */
import type { Acknowledged } from './failover/history.ts'
import { createKinds } from './failover/kinds.ts'
import { HELP, readOptions } from './failover/options.ts'
import { createReadBack } from './failover/read-back.ts'
import { described } from './failover/report.ts'
import { startRig } from './failover/rig.ts'
import { playRound } from './failover/round.ts'

/** What the server keeps for days. */
const KEPT = ['event', 'user', 'token']

const options = readOptions(process.argv.slice(2))
if (!options) {
  console.log(HELP)
  process.exit(2)
}

await using stack = new AsyncDisposableStack()
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void stack.disposeAsync().then(() => process.exit(1)))
const rig = await startRig(stack, options)
const kinds = createKinds(rig.installation, rig.target)
const readBack = createReadBack(kinds, rig.installation)
const writes: Acknowledged[] = []
let failures = 0

for (const name of options.scenarios)
  for (let round = 0; round < options.rounds; round++) {
    const { findings, broken } = await playRound(rig, { options, kinds, readBack }, { name, round })
    const lost = new Set(findings.missing)
    writes.push(
      ...findings.history.writes().filter((one) => KEPT.includes(one.kind) && !lost.has(one)),
    )
    if (broken.length > 0) failures++
    console.log(`${name} ${round + 1}/${options.rounds}: ${described(findings)}`)
    for (const rule of broken) console.log(`  BROKEN: ${rule}`)
  }

const missing = await readBack.missing(rig.pair.active(), writes)
console.log(`At the end, ${missing.length} of ${writes.length} writes of all rounds are missing.`)
console.log(`Events delivered more than once: ${rig.target.duplicates()}`)
const isGood = failures === 0 && missing.length === 0
console.log(isGood ? 'No rule was broken.' : `Rules were broken in ${failures} rounds.`)
process.exitCode = isGood ? 0 : 1
