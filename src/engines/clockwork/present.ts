import { isoOrNull, isoTime } from '../../platform/clock.ts'
import { presentOptions } from './job-options.ts'
import type { CronJob, CronJobDetail, DelayedJob, Execution } from './model.ts'
import { maskedIn } from './secret-headers.ts'
import type { CronJobRow } from './store/cron-jobs.ts'
import type { NewDelayedJobRow } from './store/delayed-jobs.ts'
import type { ExecutionRow } from './store/executions.ts'
import type { SkipReason } from './store/ledgers.ts'

export const presentCronJob = (row: Omit<CronJobRow, 'seq'>): CronJob => ({
  id: row.id,
  tenant_id: row.tenantId,
  name: row.name,
  schedule: row.schedule,
  time_zone: row.timeZone,
  url: row.url,
  method: row.method,
  headers: JSON.parse(row.headers),
  body: row.body,
  ...presentOptions(row),
  secret_headers: maskedIn(row.secretHeaders),
  deduplication_id: row.deduplicationId,
  overlap: row.overlap,
  alert_after: row.alertAfter,
  is_active: row.isActive,
  last_run_at: isoOrNull(row.lastRunAt),
  next_run_at: isoTime(row.nextRunAt),
  created_at: isoTime(row.createdAt),
  updated_at: isoTime(row.updatedAt),
})

export const presentCronJobDetail = (
  row: CronJobRow,
  skipped: Record<SkipReason, number>,
): CronJobDetail => ({ ...presentCronJob(row), skipped_slots: skipped })

export const presentDelayedJob = (row: NewDelayedJobRow): DelayedJob => ({
  id: row.id,
  tenant_id: row.tenantId,
  name: row.name,
  run_at: isoTime(row.runAt),
  url: row.url,
  method: row.method,
  headers: JSON.parse(row.headers),
  body: row.body,
  ...presentOptions(row),
  secret_headers: maskedIn(row.secretHeaders),
  deduplication_id: row.deduplicationId,
  status: row.status,
  created_at: isoTime(row.createdAt),
  updated_at: isoTime(row.updatedAt),
})

export const presentExecution = (row: ExecutionRow): Execution => ({
  id: row.id,
  job_id: row.jobId,
  status: row.status,
  trigger: row.trigger,
  slot_at: isoTime(row.slotAt),
  lateness_ms: row.latenessMs,
  started_at: isoTime(row.startedAt),
  completed_at: isoOrNull(row.completedAt),
  duration_ms: row.durationMs,
  response_status: row.responseStatus,
  response_body: row.responseBody,
  error_message: row.errorMessage,
  attempt: row.attempt,
  address: row.address,
  timings: row.timings === null ? null : JSON.parse(row.timings),
})
