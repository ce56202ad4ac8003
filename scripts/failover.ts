/**
 * Runs two servers that take over from each other, with Litestream and object storage on this machine,
 * makes trouble while clients work, and compares what was acknowledged with what is there afterwards.
 * `bun run failover --help` has the scenarios. Exits with 1 if a rule was broken.
 */
import type { Acknowledged } from './failover/history.ts'
import { createKinds } from './failover/kinds.ts'
import { HELP, type Options, readOptions } from './failover/options.ts'
import { createReadBack } from './failover/read-back.ts'
import { described } from './failover/report.ts'
import { startRig } from './failover/rig.ts'
import { playRound } from './failover/round.ts'

/** What the server keeps for days. */
const KEPT = ['event', 'user', 'token']

/** Returns whether no rule was broken. */
async function check(options: Options): Promise<boolean> {
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
      const { findings, broken } = await playRound(
        rig,
        { options, kinds, readBack },
        { name, round },
      )
      const lost = new Set(findings.missing)
      const kept = findings.history.writes().filter(({ kind }) => KEPT.includes(kind))
      writes.push(...kept.filter((write) => !lost.has(write)))
      if (broken.length > 0) failures++
      console.log(`${name} ${round + 1}/${options.rounds}: ${described(findings)}`)
      for (const rule of broken) console.log(`  BROKEN: ${rule}`)
    }

  const missing = await readBack.missing(rig.pair.active(), writes)
  console.log(`${missing.length} of ${writes.length} writes of all rounds are missing at the end.`)
  console.log(`${rig.target.duplicates()} events were delivered more than once.`)
  console.log(failures === 0 ? 'No rule was broken.' : `Rules were broken in ${failures} rounds.`)
  return failures === 0 && missing.length === 0
}

const options = readOptions(process.argv.slice(2))
if (!options) {
  console.log(HELP)
  process.exit(2)
}
const isGood = await check(options).catch((error: unknown) => {
  console.error(`BROKEN: ${error instanceof Error ? error.message : error}`)
  return false
})
process.exit(isGood ? 0 : 1)
