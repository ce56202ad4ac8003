import { Type } from '@sinclair/typebox'
import { t } from 'elysia'
import { invalid } from '../../platform/errors.ts'
import { type StatusPattern, StatusPatterns } from './status-patterns.ts'
import type { CronJobRow } from './store/cron-jobs.ts'

/** A week: the longest delay before a retry, in seconds. */
export const MAX_DELAY_S = 604_800
const MAX_ATTEMPTS = 20
export const MAX_NOTES = 2000
export const MAX_DEDUPLICATION_ID = 255

const Seconds = (minimum: number) =>
  Type.Integer({ minimum, maximum: MAX_DELAY_S, expected: `${minimum} to ${MAX_DELAY_S} seconds` })

const Retry = t.Object(
  {
    max_attempts: t.Optional(Type.Integer({ minimum: 1, maximum: MAX_ATTEMPTS })),
    delays: t.Optional(
      t.Array(Seconds(0), {
        minItems: 1,
        maxItems: MAX_ATTEMPTS - 1,
        description: 'Seconds before each retry. The last one repeats.',
      }),
    ),
    backoff: t.Optional(
      t.Object({
        initial_seconds: Seconds(1),
        factor: t.Optional(Type.Number({ minimum: 1, maximum: 10, description: '2 by default.' })),
        max_seconds: t.Optional(Seconds(1)),
      }),
    ),
    statuses: t.Optional(StatusPatterns),
    on_network_error: t.Optional(t.Boolean({ description: 'True by default.' })),
  },
  { examples: [{ max_attempts: 5, backoff: { initial_seconds: 60, factor: 2 } }] },
)
export type RetryOptions = typeof Retry.static

const TAG = '^[A-Za-z0-9][A-Za-z0-9._:/-]{0,49}$'
const TAG_RULE = 'letters, digits and . _ : / -, at most 50, beginning with a letter or digit'

export const Tag = t.String({ pattern: TAG, expected: `a tag of ${TAG_RULE}` })

/** Options that both kinds of job have, as clients send them. Null means the default. */
export const JobOptions = {
  timeout_ms: t.Nullable(Type.Integer({ minimum: 1000, maximum: 900_000 }), { default: null }),
  retry: t.Nullable(Retry, { default: null }),
  success_statuses: t.Nullable(StatusPatterns, { default: null }),
  secret_headers: t.Record(t.String(), t.String({ expected: 'a string' }), {
    default: {},
    expected: 'an object of header names and string values',
    description: 'Sent like `headers`. Responses have `********` instead of each value.',
  }),
  signed: t.Boolean({ default: false, description: 'Sign requests by Standard Webhooks.' }),
  reuse_connection: t.Boolean({
    default: false,
    description:
      'Send requests over idle connections. If one turns out to be closed, the request is sent again at once, although the target may have handled it.',
  }),
  tags: t.Array(Tag, { maxItems: 10, default: [], expected: 'a list of at most 10 tags' }),
  notes: t.Nullable(t.String({ maxLength: MAX_NOTES }), { default: null }),
}

export const DeduplicationId = t.String({
  minLength: 1,
  maxLength: MAX_DEDUPLICATION_ID,
  expected: 'a string of 1 to 255 characters',
  description: 'A create with the id of an existing job returns that job with 200.',
})

/** What a slot does that is due while earlier runs are in progress. */
export const OVERLAPS = ['skip', 'queue', 'allow'] as const
export type Overlap = (typeof OVERLAPS)[number]

export const MAX_ALERT_AFTER = 100

export const AlertAfter = Type.Integer({
  minimum: 1,
  maximum: MAX_ALERT_AFTER,
  description: 'How many runs in a row must fail before an alert opens. 1 by default.',
})

/** Options as sent, except secret headers, which are sealed. */
interface GivenOptions {
  timeout_ms?: number | null
  retry?: RetryOptions | null
  success_statuses?: StatusPattern[] | null
  signed?: boolean
  reuse_connection?: boolean
  tags?: string[]
  notes?: string | null
}

/** Columns of options, JSON as text. */
export type OptionColumns = Pick<
  CronJobRow,
  'timeoutMs' | 'retry' | 'successStatuses' | 'isSigned' | 'reusesConnection' | 'tags' | 'notes'
>

const jsonOrNull = (value: unknown): string | null =>
  value === null ? null : JSON.stringify(value)

/** The columns of the given options. */
export function optionColumns(given: GivenOptions): Partial<OptionColumns> {
  const { timeout_ms, retry, success_statuses, signed, reuse_connection, tags, notes } = given
  if (retry?.delays && retry.backoff)
    throw invalid('must not have both delays and backoff', { field: 'retry', rule: 'mismatch' })
  return {
    ...(timeout_ms !== undefined && { timeoutMs: timeout_ms }),
    ...(retry !== undefined && { retry: jsonOrNull(retry) }),
    ...(success_statuses !== undefined && { successStatuses: jsonOrNull(success_statuses) }),
    ...(signed !== undefined && { isSigned: signed }),
    ...(reuse_connection !== undefined && { reusesConnection: reuse_connection }),
    ...(tags !== undefined && { tags: JSON.stringify([...new Set(tags)]) }),
    ...(notes !== undefined && { notes }),
  }
}

export const DEFAULT_OPTIONS: OptionColumns = {
  timeoutMs: null,
  retry: null,
  successStatuses: null,
  isSigned: false,
  reusesConnection: false,
  tags: '[]',
  notes: null,
}

/** Options of a row as clients see them. */
export const presentOptions = (row: OptionColumns) => ({
  timeout_ms: row.timeoutMs,
  retry: row.retry === null ? null : (JSON.parse(row.retry) as RetryOptions),
  success_statuses:
    row.successStatuses === null ? null : (JSON.parse(row.successStatuses) as StatusPattern[]),
  signed: row.isSigned,
  reuse_connection: row.reusesConnection,
  tags: JSON.parse(row.tags) as string[],
  notes: row.notes,
})
