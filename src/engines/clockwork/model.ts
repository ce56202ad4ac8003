import { Type } from '@sinclair/typebox'
import { type TSchema, t } from 'elysia'
import {
  lenient,
  Moment,
  OptionalTimestamp,
  oneOf,
  Timestamp,
  Timings,
  Url,
} from '../../http/schemas.ts'
import { AlertAfter, DeduplicationId, JobOptions, OVERLAPS } from './job-options.ts'
import { METHODS } from './request.ts'

/** `expected` is what an error message says about an invalid value. */
const Name = t.String({ minLength: 1, maxLength: 255, expected: 'a string of 1 to 255 characters' })
const Schedule = t.String({
  expected: 'a cron expression of five fields',
  examples: ['*/15 * * * *'],
})
const TimeZone = t.String({
  expected: 'a time zone such as Europe/Berlin',
  examples: ['Europe/Berlin'],
})
const MethodName = t.UnionEnum(METHODS, { default: 'POST' })
const Headers = t.Record(t.String(), t.String({ expected: 'a string' }), {
  default: {},
  expected: 'an object of header names and string values',
})
const Body = t.Nullable(t.String(), { default: null, expected: 'a string or null' })

const REQUEST_EXAMPLE = {
  url: 'https://example.com/hook',
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: '{"report":"daily"}',
}

const REQUEST_DEFAULTS = { method: 'POST', headers: {}, body: null }

/** An optional request field without the default, which would otherwise be filled in. */
const optional = <T extends TSchema>({ default: _, ...schema }: T) => t.Optional(schema as T)

const options = {
  timeout_ms: optional(JobOptions.timeout_ms),
  retry: optional(JobOptions.retry),
  success_statuses: optional(JobOptions.success_statuses),
  secret_headers: optional(JobOptions.secret_headers),
  signed: optional(JobOptions.signed),
  reuse_connection: optional(JobOptions.reuse_connection),
  tags: optional(JobOptions.tags),
  notes: optional(JobOptions.notes),
}

/** A job, and whether it is new: an earlier one may have the same `deduplication_id`. */
export interface Created<Job> {
  job: Job
  isNew: boolean
}

export const NewCronJob = lenient(
  {
    name: Name,
    schedule: Schedule,
    time_zone: optional(TimeZone),
    url: Url,
    method: optional(MethodName),
    headers: optional(Headers),
    body: optional(Body),
    ...options,
    overlap: t.Optional(oneOf(OVERLAPS)),
    alert_after: t.Optional(AlertAfter),
    deduplication_id: t.Optional(DeduplicationId),
    is_active: t.Optional(t.Boolean()),
  },
  {
    examples: [{ name: 'Daily report', schedule: '0 9 * * *', ...REQUEST_EXAMPLE }],
    defaults: { ...REQUEST_DEFAULTS, is_active: true },
  },
)
export type NewCronJob = typeof NewCronJob.static

const { deduplication_id: _, ...changeable } = NewCronJob.properties

export const CronJobChange = t.Partial(t.Object(changeable), {
  additionalProperties: true,
  examples: [{ schedule: '0 9 * * 1-5', is_active: true }],
  defaults: {},
})
export type CronJobChange = typeof CronJobChange.static

export const NewDelayedJob = lenient(
  {
    name: Name,
    run_at: Moment,
    url: Url,
    method: optional(MethodName),
    headers: optional(Headers),
    body: optional(Body),
    ...options,
    deduplication_id: t.Optional(DeduplicationId),
  },
  {
    examples: [{ name: 'Trial reminder', run_at: '2036-01-31T12:00:00Z', ...REQUEST_EXAMPLE }],
    defaults: REQUEST_DEFAULTS,
  },
)
export type NewDelayedJob = typeof NewDelayedJob.static

export const PreviewRequest = lenient({
  schedule: Schedule,
  time_zone: optional(TimeZone),
  url: t.Optional(Url),
})
export type PreviewRequest = typeof PreviewRequest.static

const target = {
  ...{ url: t.String(), method: MethodName, headers: Headers, body: Body },
  ...JobOptions,
  deduplication_id: t.Nullable(t.String()),
}

export const CronJob = t.Object({
  id: t.String(),
  tenant_id: t.String(),
  name: t.String(),
  schedule: t.String(),
  time_zone: t.String(),
  ...target,
  overlap: oneOf(OVERLAPS),
  alert_after: AlertAfter,
  is_active: t.Boolean(),
  last_run_at: OptionalTimestamp,
  next_run_at: Timestamp,
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type CronJob = typeof CronJob.static

/** A job with the number of slots skipped in the last 30 days, by reason. */
export const CronJobDetail = t.Object({
  ...CronJob.properties,
  skipped_slots: t.Object({ outage: Type.Integer(), overlap: Type.Integer() }),
})
export type CronJobDetail = typeof CronJobDetail.static

export const DelayedJob = t.Object({
  id: t.String(),
  tenant_id: t.String(),
  name: t.String(),
  run_at: Timestamp,
  ...target,
  status: t.UnionEnum(['pending', 'running', 'success', 'failed', 'cancelled']),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type DelayedJob = typeof DelayedJob.static

export const Execution = t.Object({
  id: t.String(),
  job_id: t.String(),
  status: t.UnionEnum(['running', 'success', 'failed']),
  trigger: t.UnionEnum(['schedule', 'manual']),
  slot_at: Timestamp,
  lateness_ms: Type.Integer(),
  started_at: Timestamp,
  completed_at: OptionalTimestamp,
  duration_ms: t.Nullable(Type.Integer()),
  response_status: t.Nullable(Type.Integer()),
  response_body: t.Nullable(t.String()),
  error_message: t.Nullable(t.String()),
  attempt: Type.Integer(),
  address: t.Nullable(t.String()),
  timings: Timings,
})
export type Execution = typeof Execution.static

/** The secret that signs requests of jobs. */
export const SigningSecret = t.Object({
  secret: t.Nullable(
    t.String({ description: "Null before the first signed job, or if it can't be decrypted." }),
  ),
  previous_expires_at: OptionalTimestamp,
})
export type SigningSecret = typeof SigningSecret.static

export const TaggedWith = t.Object({ tag: t.Optional(t.String()) }, { additionalProperties: true })

export const RunAccepted = t.Object({ job_id: t.String(), requested_at: Timestamp })
export type RunAccepted = typeof RunAccepted.static

export const Preview = t.Object({
  schedule: t.String(),
  time_zone: t.String(),
  description: t.String({ examples: ['Every 15 minutes'] }),
  next_runs: t.Array(Timestamp),
  next_runs_local: t.Array(t.String({ examples: ['2026-11-22T15:05:00+01:00'] })),
  warnings: t.Array(t.String(), { examples: [[]] }),
  url: t.Nullable(
    t.Object({ url: t.String(), allowed: t.Boolean(), reason: t.Nullable(t.String()) }),
  ),
})
export type Preview = typeof Preview.static
