import type { Acknowledged, History } from './history.ts'
import type { Run } from './read-back.ts'
import type { Call } from './target.ts'

/** Attempts of a run, as documented. */
const MAX_ATTEMPTS = 3
/** The last write is acknowledged at most this long before the end. */
const RECOVERED_MS = 3000

/** What is known after a round. Times are of `performance.now()`. */
export interface Findings {
  history: History
  /** When the trouble began. */
  startedAt: number
  /** When clients stopped. */
  endedAt: number
  generation: number
  newGeneration: number
  takesOver: boolean | undefined
  missing: Acknowledged[]
  /** What the new active server says that it may have lost, in milliseconds. */
  reportedLossMs: number
  undelivered: number
  uncalled: number
  calls: readonly Call[]
  runs: readonly Run[]
  isReplicated: boolean
  /** The longest time that a takeover may take, if there is a limit. */
  withinMs: number | undefined
  /** Whether times of the servers can be used. */
  isClockRight: boolean
}

/** The time from the first write that is missing to the last one that the same generation acknowledged. */
export function lossOf({ history, missing, generation }: Findings): number {
  const last = history.lastOf(generation) ?? 0
  return missing.reduce((most, { answeredAt }) => Math.max(most, last - answeredAt), 0)
}

/** The time from the beginning of the trouble to the first answer of the new active server. */
export function takeoverOf({ history, generation, startedAt }: Findings, isWrite: boolean) {
  const first = history.firstAfter(generation, isWrite)
  return first === undefined ? undefined : first - startedAt
}

/** The rules that were broken, each as a sentence. */
export function brokenRules(findings: Findings): string[] {
  const { history, missing, isReplicated, takesOver, withinMs, isClockRight } = findings
  const hasTakenOver = findings.newGeneration > findings.generation
  const doubles = history.doubles()
  const loss = lossOf(findings)
  const took = takeoverOf(findings, true)
  return [
    isReplicated &&
      missing.length > 0 &&
      `${missing.length} acknowledged writes are missing: ${shown(missing)}`,
    isReplicated ||
      (isClockRight &&
        loss > findings.reportedLossMs &&
        `writes of ${seconds(loss)} are missing, but only ${seconds(findings.reportedLossMs)} are reported`),
    doubles.length > 0 &&
      `${doubles.length} answers of a server that was replaced: ${shown(doubles)}`,
    takesOver === true && !hasTakenOver && 'no other server has taken over',
    takesOver === false && hasTakenOver && 'another server has taken over for no reason',
    findings.endedAt - history.lastWrite() > RECOVERED_MS && 'writes are not acknowledged again',
    withinMs !== undefined &&
      (took === undefined || took > withinMs) &&
      `the takeover has taken longer than ${seconds(withinMs)}`,
    isReplicated &&
      isClockRight &&
      findings.undelivered > 0 &&
      `${findings.undelivered} events are not delivered`,
    isReplicated &&
      isClockRight &&
      findings.uncalled > 0 &&
      `${findings.uncalled} jobs are not run`,
    ...brokenByCalls(findings),
  ].filter((rule) => typeof rule === 'string')
}

/** Each attempt of a run is one request at most, unless what was lost is repeated. */
function brokenByCalls({ calls, runs, isReplicated }: Findings) {
  const slots = new Map(runs.map(({ id, slot_at }) => [id, slot_at]))
  const known = calls.filter(
    ({ job, execution }) => !job.startsWith('cron-') || slots.has(execution),
  )
  const attempts = repeated(
    known.map((call) => `${call.job} ${slots.get(call.execution) ?? ''} ${call.attempt}`),
  )
  const executions = repeated(calls.map(({ execution }) => execution))
  const excess = calls.filter(({ attempt }) => attempt > MAX_ATTEMPTS)
  return [
    isReplicated &&
      attempts.length > 0 &&
      `${attempts.length} attempts of jobs were made twice: ${attempts[0]}`,
    executions.length > 0 &&
      `${executions.length} requests of jobs were sent twice: ${executions[0]}`,
    excess.length > 0 && `${excess.length} jobs were tried more than ${MAX_ATTEMPTS} times`,
  ]
}

function repeated(names: readonly string[]): string[] {
  const groups = Map.groupBy(names, (name) => name)
  return [...groups].filter(([, all]) => all.length > 1).map(([name]) => name)
}

export const seconds = (ms: number | undefined): string =>
  ms === undefined ? 'never' : `${(ms / 1000).toFixed(2)} s`

const shown = ([first]: readonly Acknowledged[]): string => JSON.stringify(first)
