import { DAY_MS, HOUR_MS } from '../durations.ts'
import { isToldOnce } from './kinds.ts'
import type { alerts } from './schema.ts'

type AlertRow = typeof alerts.$inferSelect

/** The part of an alert that changes while its condition comes and goes. */
export type Course = Pick<
  AlertRow,
  | 'kind'
  | 'severity'
  | 'state'
  | 'openedAt'
  | 'lastAt'
  | 'count'
  | 'resolvedAt'
  | 'closesAfterMs'
  | 'mutedUntil'
  | 'told'
  | 'toldAt'
  | 'dueAt'
>

/** What is announced; null for an alert that closes without a message. */
export type AlertEvent = 'opened' | 'resolved' | 'reminder'

/** At most one message about a subject in this time, however often it fails and recovers. */
const PAUSE_MS = HOUR_MS
const REMINDER_MS = DAY_MS

/** A condition that occurred for the first time. */
export const begun = (
  of: Pick<Course, 'kind' | 'severity' | 'closesAfterMs'>,
  now: number,
): Course => ({
  ...of,
  state: 'open',
  openedAt: now,
  lastAt: now,
  count: 1,
  resolvedAt: null,
  mutedUntil: null,
  told: 'none',
  toldAt: null,
  dueAt: now,
})

/**
 * A condition that occurred once more. It is the same as before until a notification of its end is sent,
 * so a condition that flaps within an hour leads to one message with a count.
 */
export function occurred(before: Course, now: number): Course {
  const again = { ...before, lastAt: now, count: before.count + 1 }
  if (before.state === 'open') return again
  const isSame = before.told === 'opened' || before.dueAt !== null
  const open = { ...again, state: 'open' as const, resolvedAt: null }
  return withDue(isSame ? open : { ...open, openedAt: now, count: 1 }, now)
}

/** A condition that ended. Without a notification of its beginning, there is one of its end only if it was critical. */
export function resolved(before: Course, now: number): Course {
  const ended = { ...before, state: 'resolved' as const, resolvedAt: now }
  const isOwed =
    before.told === 'opened' || (before.severity === 'critical' && !isMuted(before, now))
  return isOwed ? withDue(ended, now) : { ...ended, dueAt: null }
}

/** A condition that ended without a message, for example because its subject was deleted. */
export const closed = (before: Course, now: number): Course => ({
  ...before,
  state: 'resolved',
  resolvedAt: before.resolvedAt ?? now,
  told: 'resolved',
  dueAt: null,
})

/** What has to be announced about an alert that is due, and its course after that. */
export function announced(before: Course, now: number): { event: AlertEvent | null; next: Course } {
  if (before.state === 'resolved')
    return { event: 'resolved', next: { ...before, told: 'resolved', toldAt: now, dueAt: null } }
  if (hasPassed(before, now)) return { event: null, next: closed(before, now) }
  if (isMuted(before, now)) return { event: null, next: withDue(before, now) }
  const next = withDue({ ...before, told: 'opened', toldAt: now }, now)
  return { event: before.told === 'opened' ? 'reminder' : 'opened', next }
}

/** Without messages until a time; null to end that. */
export const muted = (before: Course, until: number | null, now: number): Course =>
  before.dueAt === null
    ? { ...before, mutedUntil: until }
    : withDue({ ...before, mutedUntil: until }, now)

const isMuted = ({ mutedUntil }: Course, now: number) => mutedUntil !== null && mutedUntil > now

/** When a condition without a recovery is over after its notification, unless it occurs again. */
const endOf = ({ told, closesAfterMs, lastAt }: Course): number =>
  told === 'opened' && closesAfterMs !== null ? lastAt + closesAfterMs : Number.POSITIVE_INFINITY

const hasPassed = (course: Course, now: number) => endOf(course) <= now

/**
 * A message that was sent in the future, before the clock was set back, counts as sent now. An alert that
 * ends while it is muted is due at its end.
 */
function withDue(course: Course, now: number): Course {
  const { state, told, toldAt, mutedUntil } = course
  const isReminder = state === 'open' && told === 'opened'
  if (isReminder && isToldOnce(course.kind)) return { ...course, dueAt: null }
  const pauseEnd =
    toldAt === null ? now : Math.min(toldAt, now) + (isReminder ? REMINDER_MS : PAUSE_MS)
  const quietEnd = Math.min(mutedUntil ?? 0, state === 'open' ? endOf(course) : Infinity)
  return { ...course, dueAt: Math.max(now, pauseEnd, quietEnd) }
}
