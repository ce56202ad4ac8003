import { sql } from 'drizzle-orm'
import {
  check,
  index,
  integer,
  primaryKey,
  sqliteTable,
  text,
  uniqueIndex,
} from 'drizzle-orm/sqlite-core'
import { tenantId } from '../../platform/schema.ts'
import { UTC } from '../../platform/time-zone.ts'

export * from './monitors/schema.ts'

/** The request of a job: the same columns for both kinds of job. */
const target = () => ({
  url: text('url').notNull(),
  method: text('method', { enum: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] }).notNull(),
  /** JSON object of headers as the tenant sent them. */
  headers: text('headers').notNull(),
  body: text('body'),
})

/** What both kinds of job can change about their requests. Null stands for the default. */
const options = () => ({
  timeoutMs: integer('timeout_ms'),
  /** JSON objects and lists as the tenant sent them. */
  retry: text('retry'),
  successStatuses: text('success_statuses'),
  tags: text('tags').notNull().default('[]'),
  notes: text('notes'),
  /** JSON object of header names and a sealed JSON object of headers. */
  secretHeaders: text('secret_headers'),
  isSigned: integer('is_signed', { mode: 'boolean' }).notNull().default(false),
  reusesConnection: integer('reuses_connection', { mode: 'boolean' }).notNull().default(false),
  deduplicationId: text('deduplication_id'),
})

/** Later than any run. */
export const NO_NEXT_RUN = 9_000_000_000_000_000

/**
 * What cron jobs are sorted by. Jobs that never ran come before those that did, and paused jobs after those
 * with a next run. Without commas, at which drizzle-kit splits the columns of an index.
 */
export const NAME = 'name collate nocase'
export const LAST_RUN = 'case when last_run_at is null then 0 else last_run_at end'
export const NEXT_RUN = `case when is_active = 1 then next_run_at else ${NO_NEXT_RUN} end`

export const cronJobs = sqliteTable(
  'cron_jobs',
  {
    seq: integer('seq').primaryKey(),
    id: text('id').notNull().unique(),
    tenantId: tenantId(),
    name: text('name').notNull(),
    schedule: text('schedule').notNull(),
    /** IANA name of the zone that the schedule is in. */
    timeZone: text('time_zone').notNull().default(UTC),
    ...target(),
    ...options(),
    overlap: text('overlap', { enum: ['skip', 'queue', 'allow'] })
      .notNull()
      .default('skip'),
    /** An alert opens after so many failed runs in a row. */
    alertAfter: integer('alert_after').notNull().default(1),
    /** Runs that have failed for good since the last success. */
    failedRuns: integer('failed_runs').notNull().default(0),
    isActive: integer('is_active', { mode: 'boolean' }).notNull(),
    lastRunAt: integer('last_run_at'),
    /** Result of the newest attempt that has ended; null if there is none. */
    lastStatus: text('last_status', { enum: ['success', 'failed'] }),
    nextRunAt: integer('next_run_at').notNull(),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
  },
  (t) => [
    index('cron_jobs_by_tenant').on(t.tenantId, t.seq),
    index('cron_jobs_by_url').on(t.tenantId, t.url),
    uniqueIndex('cron_jobs_deduplication')
      .on(t.tenantId, t.deduplicationId)
      .where(sql`deduplication_id is not null`),
    index('cron_jobs_by_name').on(t.tenantId, sql.raw(NAME), t.seq),
    index('cron_jobs_by_last_run').on(t.tenantId, sql.raw(LAST_RUN), t.seq),
    index('cron_jobs_by_next_run').on(t.tenantId, sql.raw(NEXT_RUN), t.seq),
    index('cron_jobs_tagged').on(t.tenantId).where(sql`tags <> '[]'`),
    index('cron_jobs_by_state').on(t.tenantId, t.lastStatus, t.isActive),
    index('cron_jobs_due').on(t.nextRunAt).where(sql`is_active = 1`),
  ],
)

export const delayedJobs = sqliteTable(
  'delayed_jobs',
  {
    seq: integer('seq').primaryKey(),
    id: text('id').notNull().unique(),
    tenantId: tenantId(),
    name: text('name').notNull(),
    /** Changes to the time of the next attempt while a retry is due. */
    runAt: integer('run_at').notNull(),
    ...target(),
    ...options(),
    status: text('status', {
      enum: ['pending', 'running', 'success', 'failed', 'cancelled'],
    }).notNull(),
    createdAt: integer('created_at').notNull(),
    updatedAt: integer('updated_at').notNull(),
    /** Set when the job ends; retention deletes it at this time. */
    expiresAt: integer('expires_at'),
  },
  (t) => [
    index('delayed_jobs_by_tenant').on(t.tenantId, t.runAt, t.seq, t.status),
    uniqueIndex('delayed_jobs_deduplication')
      .on(t.tenantId, t.deduplicationId)
      .where(sql`deduplication_id is not null`),
    index('delayed_jobs_by_creation').on(t.tenantId, t.createdAt, t.seq),
    index('delayed_jobs_expired').on(t.expiresAt).where(sql`expires_at is not null`),
    index('delayed_jobs_ended').on(t.tenantId, t.expiresAt).where(sql`expires_at is not null`),
    check(
      'delayed_jobs_status',
      sql`${t.status} in ('pending', 'running', 'success', 'failed', 'cancelled')`,
    ),
  ],
)

/**
 * One row from when a run is known until it succeeds or fails for good. States: `queued` until another
 * run of the job has ended, `waiting` for its time, `ready` in its lane's queue (tenant and host), or
 * `leased` by the process that sends it.
 */
export const runs = sqliteTable(
  'runs',
  {
    seq: integer('seq').primaryKey(),
    tenantId: tenantId(),
    jobKind: text('job_kind', { enum: ['cron', 'delayed'] }).notNull(),
    jobId: text('job_id').notNull(),
    trigger: text('trigger', { enum: ['schedule', 'manual'] }).notNull(),
    /** The scheduled time of this run. */
    slotAt: integer('slot_at').notNull(),
    /** When the next attempt is due. */
    dueAt: integer('due_at').notNull(),
    /** Number of the next or current attempt, from 1. */
    attempt: integer('attempt').notNull(),
    state: text('state', { enum: ['queued', 'waiting', 'ready', 'leased'] }).notNull(),
    host: text('host').notNull(),
    /** The request of the run as JSON, set when the job is edited. */
    request: text('request'),
    leaseOwner: text('lease_owner'),
    leaseUntil: integer('lease_until'),
    /** Id of the run in signed requests, the same for all attempts. */
    runId: text('run_id'),
    /** The execution in progress. A result is stored only while this id matches. */
    executionId: text('execution_id'),
  },
  (t) => [
    index('runs_waiting').on(t.dueAt).where(sql`state = 'waiting'`),
    index('runs_ready').on(t.tenantId, t.host, t.dueAt, t.seq).where(sql`state = 'ready'`),
    index('runs_leased').on(t.leaseUntil).where(sql`state = 'leased'`),
    index('runs_by_job').on(t.jobId),
    uniqueIndex('runs_slot').on(t.jobId, t.slotAt).where(sql`trigger = 'schedule'`),
  ],
)

/** One row per attempt. */
export const executions = sqliteTable(
  'executions',
  {
    seq: integer('seq').primaryKey(),
    id: text('id').notNull().unique(),
    tenantId: tenantId(),
    jobId: text('job_id').notNull(),
    trigger: text('trigger', { enum: ['schedule', 'manual'] }).notNull(),
    status: text('status', { enum: ['running', 'success', 'failed'] }).notNull(),
    attempt: integer('attempt').notNull(),
    slotAt: integer('slot_at').notNull(),
    /** Milliseconds between the time the attempt was due and its start. */
    latenessMs: integer('lateness_ms').notNull(),
    startedAt: integer('started_at').notNull(),
    completedAt: integer('completed_at'),
    durationMs: integer('duration_ms'),
    responseStatus: integer('response_status'),
    responseBody: text('response_body'),
    errorMessage: text('error_message'),
    /** The IP address that was called. */
    address: text('address'),
    /** JSON object of milliseconds per phase. */
    timings: text('timings'),
    /** Set when the row is scheduled for deletion; retention deletes it at this time. */
    expiresAt: integer('expires_at'),
  },
  (t) => [
    index('executions_by_job').on(t.tenantId, t.jobId, t.seq),
    index('executions_by_tenant').on(t.tenantId, t.seq),
    index('executions_expired').on(t.expiresAt).where(sql`expires_at is not null`),
  ],
)

/** Scheduled times without a run, counted per day and reason. */
export const skippedSlots = sqliteTable(
  'skipped_slots',
  {
    jobId: text('job_id').notNull(),
    /** First millisecond of the UTC day on which they were noticed. */
    day: integer('day').notNull(),
    reason: text('reason', { enum: ['outage', 'overlap'] }).notNull(),
    count: integer('count').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.jobId, t.day, t.reason] }),
    index('skipped_slots_by_day').on(t.day),
  ],
)

/** Attempts of a tenant per hour, by result. The counts outlive the attempts. */
export const clockworkHours = sqliteTable(
  'clockwork_hours',
  {
    tenantId: tenantId(),
    /** First millisecond of the UTC hour. */
    hour: integer('hour').notNull(),
    succeeded: integer('succeeded').notNull(),
    failed: integer('failed').notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.tenantId, t.hour] }),
    index('clockwork_hours_by_time').on(t.hour),
  ],
)

/** Secrets that sign the requests of a tenant's jobs. */
export const jobSigningSecrets = sqliteTable('job_signing_secrets', {
  tenantId: tenantId().primaryKey(),
  /** Sealed JSON list, the current secret first. */
  secrets: text('secrets').notNull(),
  updatedAt: integer('updated_at').notNull(),
})

/** How much a tenant has stored, so that checking a limit takes a single row. */
export const jobCounts = sqliteTable('job_counts', {
  tenantId: tenantId().primaryKey(),
  cronJobs: integer('cron_jobs').notNull(),
  /** Open jobs, and ended ones that are still kept. */
  delayedJobs: integer('delayed_jobs').notNull(),
  /** Total size of their names, URLs, headers and bodies. */
  bytes: integer('bytes').notNull(),
})
