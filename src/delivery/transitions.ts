import { nextAttemptAt } from './retry.ts'
import { type DeliveryRow, LINES, MOVING, type Step } from './store/rows.ts'

/** What came of an attempt, as far as the delivery is concerned. */
export interface Outcome {
  result: 'succeeded' | 'failed' | 'interrupted'
  /** What the receiver said it wants no more of: this message, or any. */
  refuses: 'message' | 'all' | null
  /** How long it asked to wait, in milliseconds. */
  retryAfterMs: number | null
  endedAt: number
}

export interface Schedule {
  /** The waits before the further attempts of a run. */
  retryDelaysMs: readonly number[]
  /** The share of each that chance may add. */
  jitter: number
  random: () => number
}

/** A row as it is read while its attempt ends. */
type Leased = Omit<DeliveryRow, 'leaseOwner' | 'leaseUntil' | 'attemptId' | 'startedAt'>

/**
 * The next state of a delivery whose attempt has ended. A resend stands beside the schedule:
 * when it succeeds the delivery is done, when it fails the schedule goes on as if nothing had
 * been. What was interrupted is tried again at once, and nothing is counted against it.
 */
export function stepAfter(row: Leased, outcome: Outcome, schedule: Schedule): Step {
  const { result, refuses, endedAt } = outcome
  if (result === 'interrupted')
    return row.wanted === 'cancel' ? cancelled(row, endedAt) : again(row)
  const done = { ...stepOf(row), attempts: row.attempts + 1, wanted: null, resumeAt: null }
  if (result === 'succeeded') return succeeded(done, endedAt)
  if (row.wanted === 'cancel' || refuses === 'message') return cancelled(done, endedAt)
  if (refuses === 'all') return { ...done, state: 'failed', endedAt }
  if (row.resumeAt !== null) return afterResend(row, done, row.resumeAt, endedAt)
  return afterScheduled(row, { ...done, tries: row.tries + 1 }, outcome, schedule)
}

const succeeded = (done: Step, endedAt: number): Step => ({
  ...done,
  state: 'succeeded',
  succeededAt: done.succeededAt ?? endedAt,
  endedAt,
})

const again = (row: Leased): Step => ({ ...stepOf(row), state: 'ready' })

/** Whoever asked for it, it is not to be sent any more. */
export const cancelled = (row: Step, endedAt: number): Step => ({
  ...stepOf(row),
  state: 'cancelled',
  wanted: null,
  endedAt,
})

/** Not even by a `Retry-After`: a resend leaves the time of the next attempt alone. */
const afterResend = (row: Leased, done: Step, resumeAt: number, endedAt: number): Step =>
  row.wanted === 'resend' ? resendNow({ ...done, resumeAt }, endedAt) : waiting(done, resumeAt)

function afterScheduled(row: Leased, done: Step, outcome: Outcome, schedule: Schedule): Step {
  const { endedAt, retryAfterMs } = outcome
  const { retryDelaysMs: delaysMs, jitter, random } = schedule
  const failed = { attempt: done.tries, endedAt, delaysMs, retryAfterMs, jitter, random }
  const retryAt = nextAttemptAt(failed)
  if (row.wanted === 'resend') {
    return retryAt === undefined
      ? newRun(done, 'resend', endedAt)
      : resendNow({ ...done, dueAt: retryAt }, endedAt)
  }
  if (retryAt === undefined) return { ...done, state: 'failed', endedAt }
  return waiting(done, retryAt)
}

const waiting = (step: Step, dueAt: number): Step => ({
  ...step,
  state: 'waiting',
  line: LINES.again,
  trigger: step.trigger === 'resend' ? 'schedule' : step.trigger,
  dueAt,
})

/** Tries now; the time that the schedule had in mind is kept for afterwards. */
export const resendNow = (step: Step, now: number): Step => ({
  ...step,
  state: 'ready',
  line: LINES.first,
  trigger: 'resend',
  resumeAt: step.resumeAt ?? step.dueAt,
  dueAt: now,
})

/** A delivery that has ended begins once more, with its whole schedule before it. */
export const newRun = (step: Step, trigger: 'resend' | 'replay', dueAt: number): Step => ({
  ...step,
  state: trigger === 'resend' ? 'ready' : 'waiting',
  line: trigger === 'resend' ? LINES.first : LINES.again,
  run: step.run + 1,
  tries: 0,
  trigger,
  dueAt,
  resumeAt: null,
  wanted: null,
  endedAt: null,
})

/** The part of a row that moves. */
export const stepOf = (row: Step): Step =>
  Object.fromEntries(MOVING.map((name) => [name, row[name]])) as unknown as Step
