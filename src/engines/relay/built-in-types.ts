import { type TProperties, Type } from '@sinclair/typebox'
import type { Environment } from '../../platform/engines.ts'
import { DIALECT } from './shape/index.ts'

/** A type of operational events: its schema, which no message changes, and an example. */
export interface BuiltInType {
  /** When its events are sent. */
  description: string
  schema: Record<string, unknown>
  example: Record<string, unknown>
}

const time = (description: string) => Type.String({ format: 'date-time', description })
const orNull = (type: 'string' | 'integer', description: string, more = {}) =>
  Type.Unsafe({ type: [type, 'null'], description, ...more })

/** Fields of all events but those of monitors and usage. */
const HEAD = {
  at: time('When it happened.'),
  url: Type.String({ format: 'uri', description: 'The page in the console.' }),
}
const AT = '2026-03-01T12:01:00.000Z'
const onPage = (path: string) => ({
  at: AT,
  url: `https://gatehouse.example.com/console/01a1fefb-d880-74c1-afc8-a95203f168f8${path}`,
})

const ENDPOINT = {
  endpoint_id: Type.String({ format: 'uuid' }),
  kind: Type.Unsafe({
    enum: ['endpoint', 'webhook'],
    description: 'An endpoint, or a webhook of user events.',
  }),
  name: Type.String({ description: 'Its description, or the host of its URL.' }),
}
const AN_ENDPOINT = {
  endpoint_id: '01a1fefb-d8a2-704c-a9c3-7f12f603ada6',
  kind: 'endpoint',
  name: 'hooks.example.com',
}
const ON_ENDPOINT = onPage(`/live/endpoints/${AN_ENDPOINT.endpoint_id}`)

const REASON = {
  attempts: Type.Integer({ description: 'Failed attempts in a row.' }),
  error_code: Type.String({ description: 'Why the last attempt failed.' }),
  response_status: orNull('integer', 'HTTP status of the last attempt; null without a response.'),
}
const A_REASON = { attempts: 5, error_code: 'status', response_status: 503 }

const JOB = {
  job_id: Type.String({ format: 'uuid' }),
  kind: Type.Unsafe({ enum: ['cron', 'delayed'] }),
  name: Type.String(),
  execution_id: Type.String({ format: 'uuid', description: 'The last attempt of the run.' }),
  scheduled_at: time('When the run was due, or was started by hand.'),
  attempts: Type.Integer({ description: 'Attempts of the run.' }),
}
const A_JOB = {
  job_id: '01a1fefb-d72c-75da-9de3-374ed7a48f64',
  kind: 'cron',
  name: 'Nightly report',
  execution_id: '01a1fefb-d8b9-72f1-8479-4298c1612fd1',
  scheduled_at: '2026-03-01T12:00:00.000Z',
  attempts: 1,
}
const ON_JOB = onPage(`/jobs/${A_JOB.job_id}`)

const MONITOR = {
  monitor_id: Type.String({ format: 'uuid' }),
  name: Type.String(),
  tags: Type.Array(Type.String()),
  state: Type.String(),
  previous_state: Type.String(),
  at: HEAD.at,
  last_ping_at: orNull('string', 'Time of the last ping.', { format: 'date-time' }),
  last_duration_ms: orNull('integer', 'Duration of the last run.'),
}
const A_MONITOR = {
  monitor_id: '01a1fefb-d72c-75da-9de3-374ed7a48f64',
  name: 'Nightly backup',
  tags: ['db'],
  state: 'down',
  previous_state: 'late',
  at: AT,
  last_ping_at: '2026-02-28T03:00:41.000Z',
  last_duration_ms: 40_211,
}

function type(
  description: string,
  properties: TProperties,
  example: Record<string, unknown>,
): BuiltInType {
  const { type, required } = Type.Object(properties)
  return {
    description,
    schema: { $schema: DIALECT, description, type, properties, required },
    example,
  }
}

/** Operational events by type. */
const BUILT_IN_TYPES: Readonly<Record<string, BuiltInType>> = {
  'endpoint.disabled': type(
    'Gatehouse disabled an endpoint. Deliveries are held until you resume it.',
    {
      ...ENDPOINT,
      disabled_reason: Type.Unsafe({ enum: ['gone', 'failing'] }),
      ...REASON,
      error_code: orNull('string', 'Why the last attempt failed; null if it succeeded.'),
      ...HEAD,
    },
    { ...AN_ENDPOINT, disabled_reason: 'failing', ...A_REASON, attempts: 20, ...ON_ENDPOINT },
  ),
  'endpoint.failing': type(
    'The circuit breaker of an endpoint opened. Deliveries are held and retried.',
    { ...ENDPOINT, ...REASON, ...HEAD },
    { ...AN_ENDPOINT, ...A_REASON, ...ON_ENDPOINT },
  ),
  'endpoint.recovered': type(
    'A delivery to a failing endpoint succeeded, or a disabled endpoint was resumed.',
    { ...ENDPOINT, previous_state: Type.Unsafe({ enum: ['failing', 'disabled'] }), ...HEAD },
    { ...AN_ENDPOINT, previous_state: 'failing', ...ON_ENDPOINT },
  ),
  'job.failed': type(
    'A run, or a delayed job, failed after its last attempt. Sent again only after the job has recovered.',
    { ...JOB, error_code: REASON.error_code, response_status: REASON.response_status, ...HEAD },
    { ...A_JOB, ...A_REASON, attempts: 3, ...ON_JOB },
  ),
  'job.recovered': type(
    'A run of a failing cron job succeeded.',
    { ...JOB, ...HEAD },
    { ...A_JOB, ...ON_JOB },
  ),
  'message.exhausted': type(
    'A delivery failed after its last attempt. Sent at most once per endpoint and hour.',
    {
      message_id: Type.String({ format: 'uuid' }),
      event_type: Type.String(),
      delivery_id: Type.String({ format: 'uuid' }),
      ...ENDPOINT,
      ...REASON,
      attempts: Type.Integer({ description: 'Attempts of the delivery.' }),
      count: Type.Integer({
        description:
          'Deliveries to the endpoint that failed since the last such event, with this one.',
      }),
      ...HEAD,
    },
    {
      message_id: '01a1fefb-d8b9-72f1-8479-4298c1612fd1',
      event_type: 'invoice.paid',
      delivery_id: '01a1fefb-d8ba-76db-ba93-20e24931bb35',
      ...AN_ENDPOINT,
      ...A_REASON,
      attempts: 11,
      count: 3,
      ...onPage('/live/deliveries/01a1fefb-d8ba-76db-ba93-20e24931bb35'),
    },
  ),
  'monitor.down': type('A ping reported a failure, or none came in time.', MONITOR, A_MONITOR),
  'monitor.up': type('A monitor that was down is up again.', MONITOR, {
    ...A_MONITOR,
    state: 'up',
    previous_state: 'down',
  }),
  'usage.threshold': type(
    'Half, 80% or all of the monthly allowance or of the spend cap is used.',
    {
      month: Type.String(),
      measure: Type.Unsafe({ enum: ['allowance', 'spend_cap'] }),
      percent: Type.Unsafe({ enum: [50, 80, 100] }),
      used_requests: Type.Integer(),
      limit_requests: Type.Integer(),
      cost_cents: Type.Integer(),
      resets_at: time('When the next month begins.'),
    },
    {
      month: '2026-11',
      measure: 'allowance',
      percent: 80,
      used_requests: 2400,
      limit_requests: 3000,
      cost_cents: 0,
      resets_at: '2026-12-01T00:00:00.000Z',
    },
  ),
}

/** The names of the built-in types of an environment, sorted. */
export const builtInNames = (environment: Environment): string[] =>
  environment === 'live' ? Object.keys(BUILT_IN_TYPES) : []

/** The built-in type of a name. Operational events are live, so that test keys have none. */
export const builtInType = (environment: Environment, name: string): BuiltInType | undefined =>
  environment === 'live' && Object.hasOwn(BUILT_IN_TYPES, name) ? BUILT_IN_TYPES[name] : undefined
