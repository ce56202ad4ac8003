import { createHistory } from './history.ts'
import type { Kind } from './kinds.ts'
import { createChoice } from './kinds.ts'
import { startLoad } from './load.ts'
import type { Options, ScenarioName } from './options.ts'
import type { ReadBack } from './read-back.ts'
import type { Rig } from './rig.ts'
import { brokenRules, type Findings } from './rules.ts'
import { scenarios } from './scenarios.ts'
import { waitFor } from './wait.ts'

/** Load before the trouble, and after it. */
const BEFORE_MS = 5000
const AFTER_MS = 5000
/** Deliveries of a killed process are repeated when its leases have run out. */
const ARRIVAL_MS = 120_000

export interface Round {
  name: ScenarioName
  /** From 0. */
  round: number
}

/** One round of a scenario: load, trouble, takeover, and what is there afterwards. */
export async function playRound(
  rig: Rig,
  parts: { options: Options; kinds: readonly Kind[]; readBack: ReadBack },
  { name, round }: Round,
): Promise<{ findings: Findings; broken: string[] }> {
  const { pair, target, bucket, nextVersion } = rig
  const { options, kinds, readBack } = parts
  const scenario = scenarios[name]
  await pair.ready()
  const active = pair.active()
  const generation = pair.generation()
  const scene = { pair, active, standby: pair.other(active), generation, round, nextVersion }
  await scenario.prepare?.(scene)

  const history = createHistory()
  const { servers } = pair
  const { clients, rate } = options
  const load = startLoad({ servers, choose: createChoice(kinds), history, clients, rate })
  await Bun.sleep(BEFORE_MS)
  const startedAt = performance.now()
  let endedAt = startedAt
  await scenario.run(scene).finally(async () => {
    await Bun.sleep(AFTER_MS)
    endedAt = performance.now()
    await load.stop()
  })
  const lease = bucket.lease()
  const newGeneration = lease?.generation ?? generation
  await scenario.repair?.(scene)

  const server = pair.active()
  const missing = await readBack.missing(server, history.writes())
  const kept = history.writes().filter((write) => !missing.includes(write))
  const events = kept.filter(({ kind }) => kind === 'event')
  const jobs = kept.filter(({ kind }) => kind === 'job').map(({ key }) => key.split('/')[1] ?? '')
  const uncalled = () => {
    const called = new Set(target.calls.map(({ job }) => job))
    return jobs.filter((job) => !called.has(job))
  }
  const isAllThere = () => target.undelivered(events).length === 0 && uncalled().length === 0
  await waitFor('all has arrived', name === 'clock' ? 0 : ARRIVAL_MS, isAllThere).catch(() => {})

  const findings: Findings = {
    ...{ history, startedAt, endedAt, generation, missing },
    newGeneration,
    takesOver: scenario.takesOver,
    reportedLossMs: newGeneration > generation ? (lease?.lossMs ?? 0) : 0,
    undelivered: target.undelivered(events).length,
    uncalled: uncalled().length,
    calls: target.calls,
    runs: await readBack.runs(server),
    isReplicated: options.acknowledge === 'replicated',
    withinMs: name === 'kill' ? options.withinMs : undefined,
    isClockRight: name !== 'clock',
  }
  return { findings, broken: brokenRules(findings) }
}
