import { SECOND_MS } from '../../../platform/durations.ts'
import { fail, invalid } from '../../../platform/errors.ts'
import { checkedTimeZone } from '../../../platform/time-zone.ts'
import { readableSchedule, scheduleOf } from '../schedule/index.ts'
import type { MonitorRow } from './store.ts'

/** When pings are expected: a period after the last one, or at the times of a schedule. */
export type Expectation = Pick<
  MonitorRow,
  'periodSeconds' | 'schedule' | 'timeZone' | 'graceSeconds'
>

type Given = Partial<Pick<Expectation, 'periodSeconds' | 'schedule'>>

/** A new period replaces a schedule, and the reverse. Throws `invalid` for both, or neither. */
export function chosenBetween(known: Given, { periodSeconds, schedule }: Given) {
  const chosen = {
    periodSeconds: (schedule && periodSeconds === undefined ? null : periodSeconds) ?? null,
    schedule: (periodSeconds && schedule === undefined ? null : schedule) ?? null,
  }
  if (periodSeconds === undefined && !schedule) chosen.periodSeconds = known.periodSeconds ?? null
  if (schedule === undefined && !periodSeconds) chosen.schedule = known.schedule ?? null
  if (chosen.periodSeconds !== null && chosen.schedule !== null)
    throw invalid('must not be set together with period_seconds', {
      field: 'schedule',
      rule: 'mismatch',
    })
  if (chosen.periodSeconds === null && chosen.schedule === null)
    throw invalid('must be set, or schedule', { field: 'period_seconds', rule: 'required' })
  return chosen
}

/** Throws `invalid` for a schedule without further times, or in an unknown zone. */
export function checkExpectation(expectation: Expectation, now: number) {
  if (checkedTimeZone(expectation.timeZone) !== expectation.timeZone)
    throw invalid('must have its usual spelling', { field: 'time_zone', rule: 'format' })
  if (expectation.schedule !== null) scheduleOf(expectation.schedule)
  if (nextExpected(expectation, now) === undefined)
    fail(invalid('has no time before the year 10000', { field: 'schedule', rule: 'never' }))
}

/** When the next ping is expected after one at `at`; undefined if never, or if the schedule can't be read. */
export const nextExpected = (
  { periodSeconds, schedule, timeZone }: Omit<Expectation, 'graceSeconds'>,
  at: number,
): number | undefined =>
  schedule === null
    ? at + (periodSeconds ?? 0) * SECOND_MS
    : readableSchedule(schedule, timeZone)?.next(at)

export const graceMs = ({ graceSeconds }: Pick<Expectation, 'graceSeconds'>): number =>
  graceSeconds * SECOND_MS
