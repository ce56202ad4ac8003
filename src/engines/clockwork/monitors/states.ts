import { type Expectation, graceMs, nextExpected } from './expectation.ts'
import type { Signal } from './signal.ts'
import type { MonitorRow } from './store.ts'

export type State = MonitorRow['state']

/** The part of a monitor that pings and time change. */
export type Standing = Pick<
  MonitorRow,
  | 'state'
  | 'stateSince'
  | 'lastPingAt'
  | 'lastDurationMs'
  | 'startedAt'
  | 'startedRid'
  | 'expectedAt'
  | 'dueAt'
>

type Monitor = Expectation & Standing

/** The standing of a new monitor, which expects nothing before its first ping. */
export const unpinged = (now: number): Standing => ({
  state: 'new',
  stateSince: now,
  lastPingAt: null,
  lastDurationMs: null,
  startedAt: null,
  startedRid: null,
  expectedAt: null,
  dueAt: null,
})

/** A ping, as far as it decides the state. */
export interface Ping {
  signal: Signal
  rid: string | null
}

/**
 * After a ping. While a monitor is pinged often, its stored `dueAt` stays as it is until a quarter of
 * the wait is over, because a new one moves its entry in the index of all due monitors.
 */
export function afterPing(monitor: Monitor, ping: Ping, now: number): Standing {
  const { dueAt } = monitor
  const standing = afterSignal(monitor, ping, now)
  const isSoonEnough =
    dueAt !== null &&
    standing.dueAt !== null &&
    dueAt <= standing.dueAt &&
    dueAt - now > (standing.dueAt - now) * KEPT_SHARE
  return isSoonEnough ? { ...standing, dueAt } : standing
}

const KEPT_SHARE = 3 / 4

/** A start only begins a run, which has the grace time to finish. */
function afterSignal(monitor: Monitor, { signal, rid }: Ping, now: number): Standing {
  if (signal === 'log') return timed(monitor)
  if (signal === 'start') return timed({ ...monitor, startedAt: now, startedRid: rid })
  const ended = { ...monitor, ...afterRun(monitor, { signal, rid }, now), lastPingAt: now }
  if (monitor.state === 'paused') return timed(ended)
  if (signal === 'fail') return timed(into('down', ended, now))
  const expectedAt = nextExpected(monitor, now)
  // Without the time of the next ping, nothing would be noticed.
  if (expectedAt === undefined) return timed(into('down', ended, now))
  return timed({ ...into('up', ended, now), expectedAt })
}

/** A run ends with a ping that has its run ID, with a failure, or with a ping without an ID. */
function afterRun({ startedAt, startedRid }: Standing, { signal, rid }: Ping, now: number) {
  const isPaired = startedAt !== null && startedRid === rid
  const isOver = isPaired || signal === 'fail' || rid === null
  return {
    ...(isOver ? NO_RUN : { startedAt, startedRid }),
    lastDurationMs: isPaired ? Math.max(now - startedAt, 0) : null,
  }
}

/** After its `dueAt` has passed. Unless later pings give it more time, a ping is missing. */
export function afterTime(monitor: Monitor, now: number): Standing {
  if (changesAt(monitor) > now) return timed(monitor)
  const isDown = downAt(monitor) <= now
  return timed(into(isDown ? 'down' : 'late', monitor, now))
}

/** An outage explains a missing ping if it lasted longer than this part of the grace time. */
const EXPLAINING_SHARE = 1 / 4

/**
 * After an outage of Gatehouse, in which the monitor became due although its pings could not arrive.
 * If that explains why none did, its time begins again. Otherwise, and if it was late before, it is
 * late and has its grace time from now. A run in progress is forgotten: its end may have been missed.
 */
export function afterOutage(monitor: Monitor, now: number, outageMs: number): Standing {
  if (changesAt(monitor) > now) return timed(monitor)
  const isExplained = outageMs > graceMs(monitor) * EXPLAINING_SHARE && monitor.state !== 'late'
  const expectedAt = isExplained ? nextExpected(monitor, now) : undefined
  return expectedAt === undefined
    ? timed({ ...into('late', monitor, now), ...NO_RUN, expectedAt: now })
    : timed({ ...monitor, ...NO_RUN, expectedAt })
}

/** Ends a run in progress. Nothing is due until the monitor is resumed. */
export const paused = (monitor: Monitor, now: number): Standing =>
  timed(into('paused', { ...monitor, ...NO_RUN }, now))

/** Expects a ping from now on, unless there has never been one. */
export const resumed = (monitor: Monitor, now: number): Standing =>
  timed({
    ...into('new', monitor, now),
    ...NO_RUN,
    ...(monitor.lastPingAt !== null && expecting(monitor, now)),
  })

/** A new period or schedule counts from now on. A monitor that is down stays so until it is pinged. */
export function rescheduled(monitor: Monitor, now: number): Standing {
  if (monitor.expectedAt === null) return timed(monitor)
  const settled = monitor.state === 'late' ? into('up', monitor, now) : monitor
  return timed({ ...settled, ...expecting(monitor, now) })
}

const NO_RUN = { startedAt: null, startedRid: null }

const isOver = (state: State): boolean => state === 'down' || state === 'paused'

function into<M extends Monitor>(state: State, monitor: M, now: number): M {
  const stateSince = state === monitor.state ? monitor.stateSince : now
  return { ...monitor, state, stateSince, ...(isOver(state) && { expectedAt: null }) }
}

const expecting = (monitor: Monitor, at: number): Pick<Standing, 'expectedAt'> => ({
  expectedAt: nextExpected(monitor, at) ?? null,
})

/** When the grace time of the next ping, or of the run in progress, is over. */
export function downAt(monitor: Pick<Monitor, 'expectedAt' | 'startedAt' | 'graceSeconds'>) {
  const begins = [monitor.expectedAt, monitor.startedAt].filter((at) => at !== null)
  return Math.min(...begins) + graceMs(monitor)
}

/** When the state changes next, first to late and then to down; `Infinity` if time does not change it. */
function changesAt(monitor: Monitor): number {
  const { state, expectedAt } = monitor
  if (isOver(state)) return Infinity
  const lateAt = state === 'late' ? null : expectedAt
  return Math.min(lateAt ?? Infinity, downAt(monitor))
}

/** Sets when the watch looks at the monitor next. */
function timed(monitor: Monitor): Standing {
  const at = changesAt(monitor)
  return { ...monitor, dueAt: Number.isFinite(at) ? at : null }
}
