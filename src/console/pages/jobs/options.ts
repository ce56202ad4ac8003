import type { TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import {
  AlertAfter,
  JobOptions,
  MAX_ALERT_AFTER,
  MAX_DEDUPLICATION_ID,
  OVERLAPS,
  type Overlap,
  type RetryOptions,
} from '../../../engines/clockwork/job-options.ts'
import type { CronJob, DelayedJob } from '../../../engines/clockwork/model.ts'
import type { StatusPattern } from '../../../engines/clockwork/status-patterns.ts'
import type { Fields } from '../../../http/body.ts'
import { invalid } from '../../../platform/errors.ts'
import { checkAll, trimmedText } from '../../form.ts'
import { namesIn } from '../webhooks/fields.ts'
import { asUnix, headerLines, headersIn } from './fields.tsx'

type Options = Pick<
  CronJob,
  | 'timeout_ms'
  | 'retry'
  | 'success_statuses'
  | 'secret_headers'
  | 'signed'
  | 'reuse_connection'
  | 'tags'
  | 'notes'
>

/** Values of the fields of options; without a job, for a new one. */
export function optionValues(job?: Options & Partial<CronJob>): Fields {
  return {
    secret_headers: headerLines(job?.secret_headers ?? {}),
    ...(job?.signed && { signed: 'true' }),
    ...(job?.reuse_connection && { reuse_connection: 'true' }),
    timeout_ms: textOf(job?.timeout_ms),
    success_statuses: (job?.success_statuses ?? []).join(', '),
    ...retryValues(job?.retry ?? null),
    overlap: job?.overlap ?? 'skip',
    alert_after: textOf(job?.alert_after ?? 1),
    tags: (job?.tags ?? []).join(', '),
    notes: job?.notes ?? '',
  }
}

function retryValues(retry: RetryOptions | null): Fields {
  const { max_attempts, delays, backoff, statuses, on_network_error = true } = retry ?? {}
  return {
    retry: kindOf(retry),
    max_attempts: textOf(max_attempts),
    delays: (delays ?? []).join(', '),
    initial_seconds: textOf(backoff?.initial_seconds),
    factor: textOf(backoff?.factor),
    max_seconds: textOf(backoff?.max_seconds),
    retry_statuses: (statuses ?? []).join(', '),
    ...(on_network_error && { on_network_error: 'true' }),
  }
}

function kindOf(retry: RetryOptions | null): string {
  if (retry === null) return 'default'
  if (retry.backoff) return 'backoff'
  return retry.max_attempts === 1 ? 'none' : 'delays'
}

const textOf = (value: number | null | undefined): string => `${value ?? ''}`

/** The options in a form. Throws `invalid` with every wrong field. */
export function optionsIn(fields: Fields): Options {
  const timeout_ms = numberIn(fields, 'timeout_ms') ?? null
  const success_statuses = statusesIn(fields, 'success_statuses') ?? null
  const tags = namesIn(fields, 'tags')
  const notes = asUnix(trimmedText(fields, 'notes')) || null
  checkAll([
    () => check('timeout_ms', timeout_ms, 'a number from 1000 to 900000'),
    () => check('success_statuses', success_statuses, 'statuses such as 2xx or 304'),
    () => check('tags', tags, 'at most 10 tags of letters, digits and . _ : / -'),
    () => check('notes', notes, 'at most 2,000 characters'),
    () => check('retry', retryIn(fields), ''),
  ])
  return {
    ...{ timeout_ms, success_statuses, tags, notes },
    retry: retryIn(fields),
    secret_headers: headersIn(fields, 'secret_headers'),
    signed: trimmedText(fields, 'signed') === 'true',
    reuse_connection: trimmedText(fields, 'reuse_connection') === 'true',
  }
}

/** Those of the options that differ from a job. */
export function changedOptions(options: Options, job: Options | DelayedJob): Partial<Options> {
  const before: Options = job
  return Object.fromEntries(
    Object.entries(options).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name as keyof Options]),
    ),
  )
}

/** The fields in which a wrong part of `retry` was typed. */
const RETRY_FIELDS: Record<string, string> = { statuses: 'retry_statuses' }

function check(name: keyof typeof JobOptions, value: unknown, what: string) {
  const schema: TSchema = JobOptions[name]
  if (Value.Check(schema, value)) return
  const path = Value.Errors(name === 'retry' ? schema.anyOf[0] : schema, value).First()?.path ?? ''
  const part = path.split('/').findLast((step) => /[a-z]/.test(step)) ?? name
  if (name === 'retry')
    throw invalid('is missing or out of range', {
      field: RETRY_FIELDS[part] ?? part,
      rule: 'range',
    })
  throw invalid(`must be ${what}`, { field: name, rule: 'format' })
}

function retryIn(fields: Fields): RetryOptions | null {
  const kind = trimmedText(fields, 'retry')
  if (kind === 'none') return { max_attempts: 1 }
  if (kind !== 'delays' && kind !== 'backoff') return null
  const max_attempts = numberIn(fields, 'max_attempts')
  const statuses = statusesIn(fields, 'retry_statuses')
  const isRetried = trimmedText(fields, 'on_network_error') === 'true'
  return {
    ...(max_attempts !== undefined && { max_attempts }),
    ...(kind === 'delays' ? delaysIn(fields) : { backoff: backoffIn(fields) }),
    ...(statuses && { statuses }),
    ...(!isRetried && { on_network_error: false }),
  }
}

function delaysIn(fields: Fields): Pick<RetryOptions, 'delays'> {
  const delays = namesIn(fields, 'delays').map(Number)
  return delays.length > 0 ? { delays } : {}
}

function backoffIn(fields: Fields): NonNullable<RetryOptions['backoff']> {
  const factor = numberIn(fields, 'factor')
  const max_seconds = numberIn(fields, 'max_seconds')
  return {
    initial_seconds: numberIn(fields, 'initial_seconds') ?? Number.NaN,
    ...(factor !== undefined && { factor }),
    ...(max_seconds !== undefined && { max_seconds }),
  }
}

/** A number; undefined for an empty field, `NaN` for any other text. */
function numberIn(fields: Fields, name: string): number | undefined {
  const text = trimmedText(fields, name)
  return text === '' ? undefined : Number(text)
}

/** Statuses as they were sent, if they were: numbers as numbers. */
function statusesIn(fields: Fields, name: string): StatusPattern[] | undefined {
  const statuses = namesIn(fields, name)
  if (statuses.length === 0) return undefined
  return statuses.map((text) => (/^\d+$/.test(text) ? Number(text) : text))
}

/** What runs that overlap do, `skip` unless chosen. */
export const overlapIn = (fields: Fields): Overlap =>
  OVERLAPS.find((one) => one === trimmedText(fields, 'overlap')) ?? 'skip'

/** Failed runs in a row before an alert, one if the field is empty. */
export function alertAfterIn(fields: Fields): number {
  const runs = numberIn(fields, 'alert_after') ?? 1
  if (Value.Check(AlertAfter, runs)) return runs
  throw invalid(`must be a number from 1 to ${MAX_ALERT_AFTER}`, {
    field: 'alert_after',
    rule: 'range',
  })
}

export function deduplicationIn(fields: Fields): { deduplication_id?: string } {
  const deduplication_id = trimmedText(fields, 'deduplication_id')
  if (deduplication_id.length > MAX_DEDUPLICATION_ID)
    throw invalid(`must have at most ${MAX_DEDUPLICATION_ID} characters`, {
      field: 'deduplication_id',
      rule: 'too_long',
    })
  return deduplication_id === '' ? {} : { deduplication_id }
}
