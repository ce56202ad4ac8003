import { fail, invalid } from '../../platform/errors.ts'
import { checkedTimeZone, UTC } from '../../platform/time-zone.ts'
import { DEFAULT_OPTIONS, optionColumns } from './job-options.ts'
import type { CronJobChange, NewCronJob } from './model.ts'
import { type StoredRequest, storedRequest } from './request.ts'
import { scheduleOf } from './schedule/index.ts'
import type { CronJobRow } from './store/cron-jobs.ts'

/** The columns of a new job, with defaults for omitted fields. */
export const columnsOf = (input: NewCronJob) => ({
  name: input.name,
  schedule: input.schedule,
  timeZone: checkedTimeZone(input.time_zone ?? UTC),
  url: input.url,
  method: input.method ?? 'POST',
  headers: JSON.stringify(input.headers ?? {}),
  body: input.body ?? null,
  ...DEFAULT_OPTIONS,
  ...optionColumns(input),
  overlap: input.overlap ?? 'skip',
  alertAfter: input.alert_after ?? 1,
  deduplicationId: input.deduplication_id ?? null,
  isActive: input.is_active ?? true,
})

/** Applies changes to a row. A new schedule or a resumed job starts from `now`. */
export function changedRow(old: CronJobRow, change: CronJobChange, now: number): CronJobRow {
  const row = { ...old, ...changedColumns(change), updatedAt: now }
  const isRescheduled =
    row.schedule !== old.schedule ||
    row.timeZone !== old.timeZone ||
    (row.isActive && !old.isActive)
  return isRescheduled ? { ...row, nextRunAt: nextSlot(row, now) } : row
}

function changedColumns({ is_active, headers, ...rest }: CronJobChange): Partial<CronJobRow> {
  const { name, schedule, time_zone, url, method, body, overlap, alert_after } = rest
  return {
    ...optionColumns(rest),
    ...(overlap !== undefined && { overlap }),
    ...(alert_after !== undefined && { alertAfter: alert_after }),
    ...(name !== undefined && { name }),
    ...(schedule !== undefined && { schedule }),
    ...(time_zone !== undefined && { timeZone: checkedTimeZone(time_zone) }),
    ...(url !== undefined && { url }),
    ...(method !== undefined && { method }),
    ...(body !== undefined && { body }),
    ...(headers !== undefined && { headers: JSON.stringify(headers) }),
    ...(is_active !== undefined && { isActive: is_active }),
  }
}

/** The job's current request as JSON, which open runs keep when the job is edited. */
export const keptRequest = (row: CronJobRow): string =>
  JSON.stringify(storedRequest(row) satisfies StoredRequest)

/**
 * The first slot after `now`. Throws `invalid` for an invalid schedule or one without further
 * slots.
 */
export const nextSlot = (
  { schedule, timeZone }: Pick<CronJobRow, 'schedule' | 'timeZone'>,
  now: number,
): number =>
  scheduleOf(schedule, timeZone).next(now) ??
  fail(invalid('has no run before the year 10000', { field: 'schedule', rule: 'never' }))
