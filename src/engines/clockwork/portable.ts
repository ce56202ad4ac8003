import { Type } from '@sinclair/typebox'
import { eq } from 'drizzle-orm'
import { secretsField } from '../../delivery/portable.ts'
import { invalid } from '../../platform/errors.ts'
import { checkHeaders } from '../../platform/outbound/index.ts'
import { between, json, requireWebUrl } from '../../platform/portable/fields.ts'
import {
  asItIs,
  numbered,
  type Portable,
  type PortableTable,
} from '../../platform/portable/table.ts'
import { checkedTimeZone } from '../../platform/time-zone.ts'
import { MAX_ALERT_AFTER } from './job-options.ts'
import { JOB_BYTES_PER_TENANT, JOBS_PER_TENANT } from './limits.ts'
import { portable as monitorsPortable } from './monitors/portable.ts'
import { checkOptions, options } from './portable-options.ts'
import { hostOf } from './request.ts'
import { scheduleOf } from './schedule/index.ts'
import { cronJobs, delayedJobs, jobSigningSecrets } from './schema.ts'
import { signingSecrets as sealedSigningSecrets } from './sealed.ts'
import type { CronJobRow } from './store/cron-jobs.ts'
import type { DelayedJobRow } from './store/delayed-jobs.ts'
import { createStore } from './store/index.ts'
import type { JobCounts } from './store/ledgers.ts'
import { sizeOf } from './store/size.ts'

/** The next time of a schedule without further slots: the latest time that a date can hold. */
const NEVER = 8.64e15

const headers = json(Type.Record(Type.String(), Type.String()), (value) =>
  checkHeaders(value as Record<string, string>),
)

const target = { url: asItIs, method: asItIs, headers, body: asItIs } as const

const cronJob: PortableTable<CronJobRow> = {
  kind: 'cron_job',
  table: cronJobs,
  columns: {
    seq: numbered,
    id: asItIs,
    tenantId: asItIs,
    name: asItIs,
    schedule: asItIs,
    timeZone: asItIs,
    ...target,
    ...options('cron'),
    overlap: asItIs,
    alertAfter: between(1, MAX_ALERT_AFTER),
    failedRuns: { leftOut: 'history', instead: () => 0 },
    isActive: asItIs,
    lastRunAt: asItIs,
    lastStatus: { leftOut: 'history' },
    nextRunAt: {
      leftOut: 'recomputed: slots missed during the move are not run',
      instead: ({ schedule, timeZone }, now) => scheduleOf(schedule, timeZone).next(now) ?? NEVER,
    },
    createdAt: asItIs,
    updatedAt: asItIs,
  },
  order: ['seq'],
  most: { rows: JOBS_PER_TENANT },
  check(job) {
    checkTarget(job)
    checkOptions(job)
    if (checkedTimeZone(job.timeZone) !== job.timeZone)
      throw invalid('must have its usual spelling', { field: 'time_zone', rule: 'format' })
    scheduleOf(job.schedule)
  },
  arriving(db) {
    const { counts } = createStore(db)
    return {
      add: (job) => refuseOversize(counts.add(job.tenantId, { cronJobs: 1, bytes: sizeOf(job) })),
    }
  },
}

const delayedJob: PortableTable<DelayedJobRow> = {
  kind: 'delayed_job',
  table: delayedJobs,
  columns: {
    seq: numbered,
    id: asItIs,
    tenantId: asItIs,
    name: asItIs,
    runAt: asItIs,
    ...target,
    ...options('delayed'),
    status: asItIs,
    createdAt: asItIs,
    updatedAt: asItIs,
    expiresAt: { leftOut: 'only for finished jobs' },
  },
  order: ['runAt', 'seq'],
  only: eq(delayedJobs.status, 'pending'),
  staying: { name: 'running_delayed_jobs', rows: eq(delayedJobs.status, 'running') },
  most: { rows: JOBS_PER_TENANT },
  check(job) {
    checkTarget(job)
    checkOptions(job)
    if (job.status !== 'pending')
      throw invalid('must be pending', { field: 'status', rule: 'choice' })
  },
  /** An imported job keeps its time and starts with its first attempt. */
  arriving(db) {
    const { counts, runs } = createStore(db)
    function add(job: DelayedJobRow, now: number, tell: (name: string) => void) {
      const { tenantId, id, runAt, url } = job
      refuseOversize(counts.add(tenantId, { delayedJobs: 1, bytes: sizeOf(job) }))
      runs.insert({
        tenantId,
        jobKind: 'delayed',
        jobId: id,
        trigger: 'schedule',
        slotAt: runAt,
        dueAt: runAt,
        state: 'waiting',
        host: hostOf(url),
      })
      if (runAt <= now) tell('overdue_delayed_jobs')
    }
    return { add }
  },
}

function checkTarget({ name, url }: Pick<CronJobRow, 'name' | 'url'>) {
  if (name.length < 1 || name.length > 255)
    throw invalid('must have 1 to 255 characters', { field: 'name', rule: 'too_long' })
  requireWebUrl(url, 'url')
}

/** Signs the requests of the jobs that follow it in the file. */
const signingSecret: PortableTable<typeof jobSigningSecrets.$inferSelect> = {
  kind: 'job_signing_secret',
  table: jobSigningSecrets,
  columns: { tenantId: asItIs, secrets: secretsField(sealedSigningSecrets), updatedAt: asItIs },
  order: ['tenantId'],
  most: { rows: 1 },
}

function refuseOversize({ bytes }: JobCounts) {
  if (bytes > JOB_BYTES_PER_TENANT)
    throw invalid(`jobs must be at most ${JOB_BYTES_PER_TENANT} bytes in total`, {
      rule: 'too_large',
    })
}

/** Exports monitors, and jobs that have not ended. */
export const portable: Portable = {
  tables: [...monitorsPortable.tables, signingSecret, cronJob, delayedJob],
  leftOut: {
    ...monitorsPortable.leftOut,
    runs: 'recreated for delayed jobs; runs of cron jobs finish where they started',
    executions: 'history',
    clockwork_hours: 'history',
    skipped_slots: 'history',
    job_counts: 'counted again',
  },
}
