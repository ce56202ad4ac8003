import { isoTime } from '../../platform/clock.ts'
import { MINUTE_MS } from '../../platform/durations.ts'
import { MAX_SILENCE_MS } from '../../platform/instances.ts'
import type { Process } from '../../platform/process.ts'
import { type Finding, ok, warning } from './finding.ts'
import type { InstanceRow, Leases, Overdue } from './store.ts'
import { counted } from './words.ts'

const OVERDUE_MS = 10 * MINUTE_MS
/** How long a running server may take to take over an expired lease. */
const TAKEOVER_MS = MINUTE_MS

export interface Processes {
  alive: InstanceRow[]
  /** Processes that exist without a heartbeat, or whose ids other programs have now. */
  silent: InstanceRow[]
  dead: InstanceRow[]
}

/** Servers on this data directory by their rows. On other hosts, only the heartbeat counts. */
export function processesIn(
  rows: readonly InstanceRow[],
  { host, isRunning }: Pick<Process, 'host' | 'isRunning'>,
  now: number,
): Processes {
  const isFresh = (row: InstanceRow) => now - row.heartbeatAt <= MAX_SILENCE_MS
  const mayRun = (row: InstanceRow) => (row.host === host ? isRunning(row.pid) : isFresh(row))
  const there = rows.filter(mayRun)
  return {
    alive: there.filter(isFresh),
    silent: there.filter((row) => !isFresh(row)),
    dead: rows.filter((row) => !mayRun(row)),
  }
}

/** `wanted` is the number of processes that the configuration asks for. */
export function judgeProcesses(
  { alive, silent, dead }: Processes,
  version: string,
  wanted = 1,
): Finding[] {
  const check = 'server'
  const running = alive.map(({ pid, startedAt }) => `process ${pid} since ${isoTime(startedAt)}`)
  const seen = ({ pid, heartbeatAt }: InstanceRow) =>
    `process ${pid}, last seen ${isoTime(heartbeatAt)}`
  return [
    ok(check, running.length > 0 ? running.join(', ') : 'not running'),
    ...(alive.length > 0 && alive.length < wanted
      ? [
          warning(
            check,
            `${alive.length} of ${wanted} processes run ([server] processes): others are starting, or ` +
              'crash. Check the log, and restart the server if the setting is new',
          ),
        ]
      : []),
    ...alive
      .filter((row) => row.version !== version)
      .map((row) =>
        warning(
          check,
          `process ${row.pid} runs ${row.version}, but this is ${version}: restart it`,
        ),
      ),
    ...silent.map((row) =>
      warning(
        check,
        `${seen(row)}: it hangs, cannot write, or has ended and another program uses its process ID. ` +
          'Check its log and restart it',
      ),
    ),
    ...dead.map((row) =>
      warning(check, `${seen(row)}: ended unexpectedly. Check its log. The next start cleans up`),
    ),
  ]
}

/** Leases of processes that no longer run. */
export function judgeLeases(
  leases: readonly Leases[],
  { alive }: Processes,
  now: number,
): Finding[] {
  const ids = new Set(alive.map(({ id }) => id))
  const lost = leases.filter(({ owner }) => owner === null || !ids.has(owner))
  if (lost.length === 0) return [ok('leases', 'none held by dead processes')]
  if (alive.length === 0)
    return [
      warning('leases', `${listed(lost)} held by dead processes: start a server to take them over`),
    ]
  const late = lost.filter(({ until }) => until !== null && until < now - TAKEOVER_MS)
  return [
    late.length === 0
      ? ok('leases', `${listed(lost)} held by dead processes, taken over soon`)
      : warning(
          'leases',
          `${listed(late)} held by dead processes, but not taken over by the server: check its log and restart it`,
        ),
  ]
}

/** Work that is overdue although a server runs. */
export function overdueWork(
  { overdue }: { overdue: (before: number) => Overdue[] },
  { alive }: Processes,
  now: number,
): Finding[] {
  if (alive.length === 0) return []
  const late = overdue(now - OVERDUE_MS)
  if (late.length === 0) return [ok('due work', 'nothing is overdue')]
  const since = Math.min(...late.map(({ since }) => since ?? now))
  return [
    warning(
      'due work',
      `${listed(late)} overdue, the oldest since ${isoTime(since)}. Possible causes: slow targets, a slow disk, ` +
        'too much work for this machine, or a start with --paused. Check the log',
    ),
  ]
}

const PLURALS: Readonly<Record<string, string>> = { delivery: 'deliveries' }

/** `2 runs, 1 delivery`. */
function listed(found: readonly { of: string; count: number }[]): string {
  const kinds = [...new Set(found.map(({ of }) => of))]
  return kinds
    .map((of) => {
      const sum = found
        .filter((row) => row.of === of)
        .reduce((total, { count }) => total + count, 0)
      return sum > 1 && PLURALS[of] ? `${sum} ${PLURALS[of]}` : counted(sum, of)
    })
    .join(', ')
}
