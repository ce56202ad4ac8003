import { nextAttemptAt } from './retry.ts'
import { DELIVERY_QUEUES, type DeliveryRow, MOVING, type Step } from './store/rows.ts'

/** The result of an attempt, as far as the next state of the delivery depends on it. */
export interface Outcome {
  result: 'succeeded' | 'failed' | 'interrupted'
  /** What the receiver refuses: this message, or all messages. */
  refuses: 'message' | 'all' | null
  /** The delay that the receiver asked for, in milliseconds. */
  retryAfterMs: number | null
  endedAt: number
}

export interface Schedule {
  /** The delays before the retries of a run. */
  retryDelaysMs: readonly number[]
  /** The largest share of each delay that is added at random. */
  jitter: number
  random: () => number
}

/** A row as read when its attempt ends. */
type Leased = Omit<DeliveryRow, 'leaseOwner' | 'leaseUntil' | 'attemptId' | 'startedAt'>

/**
 * A resend is independent of the retry schedule: success ends the delivery; after a failure, the
 * schedule continues unchanged. An interrupted attempt is repeated immediately and doesn't count.
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

/** The state of a cancelled delivery. */
export const cancelled = (row: Step, endedAt: number): Step => ({
  ...stepOf(row),
  state: 'cancelled',
  wanted: null,
  endedAt,
})

/** A failed resend leaves the time of the next attempt unchanged, even with `Retry-After`. */
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
  queue: DELIVERY_QUEUES.again,
  trigger: step.trigger === 'resend' ? 'schedule' : step.trigger,
  dueAt,
})

/** Makes an attempt now and keeps the scheduled time for later. */
export const resendNow = (step: Step, now: number): Step => ({
  ...step,
  state: 'ready',
  queue: DELIVERY_QUEUES.first,
  trigger: 'resend',
  resumeAt: step.resumeAt ?? step.dueAt,
  dueAt: now,
})

/** Starts an ended delivery over with its full retry schedule. */
export const newRun = (step: Step, trigger: 'resend' | 'replay', dueAt: number): Step => ({
  ...step,
  state: trigger === 'resend' ? 'ready' : 'waiting',
  queue: trigger === 'resend' ? DELIVERY_QUEUES.first : DELIVERY_QUEUES.again,
  run: step.run + 1,
  tries: 0,
  trigger,
  dueAt,
  resumeAt: null,
  wanted: null,
  endedAt: null,
})

/** The columns of a row that change during a delivery. */
export const stepOf = (row: Step): Step =>
  Object.fromEntries(MOVING.map((name) => [name, row[name]])) as unknown as Step
