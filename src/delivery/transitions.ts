import { nextAttemptAt } from './retry.ts'
import { type DeliveryRow, LINES, type Step } from './store/rows.ts'

/** What came of an attempt, as far as the delivery is concerned. */
export interface Outcome {
  result: 'succeeded' | 'failed' | 'interrupted'
  /** The receiver wants no more of it. */
  isGone: boolean
  /** How long it asked to wait, in milliseconds. */
  retryAfterMs: number | null
  endedAt: number
}

export interface Schedule {
  retryDelaysMs: readonly number[]
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
  if (outcome.result === 'interrupted') return { ...stepOf(row), state: 'ready' }
  const done = { ...stepOf(row), attempts: row.attempts + 1, isResendWanted: false, resumeAt: null }
  const end = { ...done, endedAt: outcome.endedAt }
  if (outcome.result === 'succeeded') return { ...end, state: 'succeeded' }
  if (outcome.isGone) return { ...end, state: 'failed' }
  if (row.resumeAt !== null) return afterResend(row, done, row.resumeAt, outcome)
  return afterScheduled(row, outcome, schedule)
}

function afterResend(row: Leased, done: Step, resumeAt: number, { endedAt }: Outcome): Step {
  return row.isResendWanted ? resendNow({ ...done, resumeAt }, endedAt) : waiting(done, resumeAt)
}

function afterScheduled(row: Leased, outcome: Outcome, schedule: Schedule): Step {
  const tries = row.tries + 1
  const done = { ...stepOf(row), attempts: row.attempts + 1, tries, isResendWanted: false }
  const retryAt = nextAttemptAt({
    attempt: tries,
    endedAt: outcome.endedAt,
    delaysMs: schedule.retryDelaysMs,
    retryAfterMs: outcome.retryAfterMs,
    random: schedule.random,
  })
  if (row.isResendWanted) {
    return retryAt === undefined
      ? newRun(done, 'resend', outcome.endedAt)
      : resendNow({ ...done, dueAt: retryAt }, outcome.endedAt)
  }
  if (retryAt === undefined) return { ...done, state: 'failed', endedAt: outcome.endedAt }
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
  isResendWanted: false,
  endedAt: null,
})

/** The part of a row that moves. */
export const stepOf = ({
  state,
  line,
  run,
  attempts,
  tries,
  trigger,
  dueAt,
  resumeAt,
  isResendWanted,
  endedAt,
}: Step): Step => ({
  state,
  line,
  run,
  attempts,
  tries,
  trigger,
  dueAt,
  resumeAt,
  isResendWanted,
  endedAt,
})
