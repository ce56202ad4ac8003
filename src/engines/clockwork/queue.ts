import type { Clock } from '../../platform/clock.ts'
import type { DueQueue, Holders, Lane, Lease } from '../../platform/due/queue.ts'
import { SealError } from '../../platform/sealing/index.ts'
import { type AttemptOutcome, type SendAttempt, unanswered } from './attempt.ts'
import type { Attempt, BeginAttempt } from './begin-attempt.ts'
import type { Watch } from './monitors/watch.ts'
import type { createSettling } from './settling.ts'
import type { createSlots } from './slots.ts'
import type { Store } from './store/index.ts'
import type { Tick } from './tick.ts'

/** Rows changed by one transaction; keeps the delay of requests below about 20 ms. */
const SLICE = 300
const BROKEN = 'Gatehouse failed to send the request; see the server log'
const SEALED =
  "A secret of the job can't be decrypted: rotate the signing secret, or set the secret headers again"

/** The work of the scheduler for the due loop: cron slots, delayed jobs and the retries of both. */
export function createRunQueue(parts: {
  store: Store
  clock: Clock
  tick: Tick
  /** The longest that an attempt of a job without an own timeout may take, in milliseconds. */
  timeoutMs: number
  slots: ReturnType<typeof createSlots>
  beginAttempt: BeginAttempt
  settling: ReturnType<typeof createSettling>
  send: SendAttempt
  /** Finds monitors that are due, in the same turns of the loop. */
  watch: Watch
}): DueQueue<Attempt, AttemptOutcome> {
  const { store, clock, tick, timeoutMs, slots, beginAttempt, settling, send, watch } = parts

  function nextDueAt(): number | undefined {
    const first = earliest(store.cronJobs.firstDueAt(), store.runs.firstWaitingAt())
    return earliest(first && tick.ceil(first), watch.nextDueAt())
  }

  function promote(now: number): boolean {
    const cutoff = tick.floor(now)
    const fired = slots.fire(cutoff, SLICE)
    const hasMore = store.runs.promote(cutoff, SLICE)
    const hasMoreMonitors = watch.pass(now)
    return fired === SLICE || hasMore || hasMoreMonitors
  }

  const claim = (lane: Lane, limit: number, lease: Lease): Attempt[] =>
    store.runs.ready(lane, limit).flatMap((run) => beginAttempt(run, lane, lease) ?? [])

  const broken = ({ startedAt }: Attempt, error: unknown): AttemptOutcome =>
    unanswered('internal', error instanceof SealError ? SEALED : BROKEN, startedAt, clock.now())

  const settle = ({ run, startedAt }: Attempt, outcome: AttemptOutcome) =>
    settling.end(run, startedAt, outcome)

  function reclaim(holders: Holders) {
    for (const run of store.runs.lost(holders, SLICE)) settling.interrupt(run, holders.now)
  }

  return {
    name: 'clockwork',
    limits: { total: 512, perTenant: 128, perTarget: 20, perLane: 16, isShared: true },
    longestMs: timeoutMs,
    nextDueAt,
    promote,
    nextLane: store.runs.nextLane,
    claim,
    perform: send,
    broken,
    settle,
    hasLost: store.runs.hasLost,
    reclaim,
  }
}

const earliest = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? (one ?? other) : Math.min(one, other)
