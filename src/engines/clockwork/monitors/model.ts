import { Type } from '@sinclair/typebox'
import { t } from 'elysia'
import { lenient, OptionalTimestamp, oneOf, Timestamp } from '../../../http/schemas.ts'
import { MAX_NOTES_LENGTH, MAX_SECONDS, MAX_TAG_LENGTH, MAX_TAGS, MIN_SECONDS } from './limits.ts'
import { SIGNALS, STATES } from './names.ts'

/** `expected` is what an error message says about an invalid value. */
const Name = t.String({ minLength: 1, maxLength: 255, expected: 'a string of 1 to 255 characters' })

const Seconds = Type.Integer({
  minimum: MIN_SECONDS,
  maximum: MAX_SECONDS,
  expected: `a whole number from ${MIN_SECONDS} to ${MAX_SECONDS}`,
})

const Schedule = t.String({ expected: 'a cron expression of five fields', examples: ['0 3 * * *'] })

const Tags = t.Array(
  t.String({
    pattern: `^[^\\s,\\u0000-\\u001f\\u007f]{1,${MAX_TAG_LENGTH}}$`,
    expected: `a word of 1 to ${MAX_TAG_LENGTH} characters without spaces and commas`,
    examples: ['backup'],
  }),
  { maxItems: MAX_TAGS, expected: `a list of up to ${MAX_TAGS} words` },
)

const Notes = t.String({
  maxLength: MAX_NOTES_LENGTH,
  expected: `a string of up to ${MAX_NOTES_LENGTH} characters`,
})

export const NewMonitor = lenient(
  {
    name: Name,
    period_seconds: t.Optional(t.Nullable(Seconds)),
    schedule: t.Optional(t.Nullable(Schedule)),
    time_zone: t.Optional(
      t.String({ expected: 'a time zone such as Europe/Berlin', examples: ['Europe/Berlin'] }),
    ),
    grace_seconds: t.Optional(Seconds),
    tags: t.Optional(Tags),
    notes: t.Optional(Notes),
  },
  {
    examples: [
      { name: 'Nightly backup', schedule: '0 3 * * *', grace_seconds: 1800, tags: ['db'] },
    ],
  },
)
export type NewMonitor = typeof NewMonitor.static

export const MonitorChange = t.Partial(NewMonitor, {
  additionalProperties: true,
  examples: [{ period_seconds: 86_400, grace_seconds: 3600 }],
})
export type MonitorChange = typeof MonitorChange.static

export const MonitorQuery = lenient({
  tag: t.Optional(t.String({ description: 'Only monitors with this tag.' })),
  state: t.Optional(oneOf(STATES, { description: 'Only monitors in this state.' })),
})
export type MonitorQuery = typeof MonitorQuery.static

export const Monitor = t.Object({
  id: t.String(),
  tenant_id: t.String(),
  name: t.String(),
  tags: t.Array(t.String()),
  notes: t.String(),
  period_seconds: t.Nullable(Type.Integer()),
  schedule: t.Nullable(t.String()),
  time_zone: t.String({ examples: ['UTC'] }),
  grace_seconds: Type.Integer(),
  state: oneOf(STATES),
  state_since: Timestamp,
  started_at: OptionalTimestamp,
  last_ping_at: OptionalTimestamp,
  last_duration_ms: t.Nullable(Type.Integer()),
  expected_at: OptionalTimestamp,
  down_at: OptionalTimestamp,
  ping_url: t.Nullable(t.String()),
  badge_url: t.String(),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type Monitor = typeof Monitor.static

export const Ping = t.Object({
  number: Type.Integer(),
  signal: oneOf(SIGNALS),
  exit_code: t.Nullable(Type.Integer()),
  run_id: t.Nullable(t.String()),
  received_at: Timestamp,
  duration_ms: t.Nullable(Type.Integer()),
  body: t.Nullable(t.String()),
  ip_address: t.Nullable(t.String()),
})
export type Ping = typeof Ping.static
