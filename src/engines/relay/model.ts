import { type TProperties, type TUnsafe, Type } from '@sinclair/typebox'
import { t } from 'elysia'
import { FORMATS } from '../../delivery/formats.ts'
import { DELIVERY_TRIGGERS } from '../../delivery/triggers.ts'
import { MOST_CHANNELS, MOST_EVENT_TYPES } from './limits.ts'

/** A body may hold more than we take, such as an endpoint as it was read; an answer may not. */
const lenient = <P extends TProperties>(properties: P) =>
  t.Object(properties, { additionalProperties: true })

const Timestamp = t.String({ examples: ['2026-01-31T12:00:00.000Z'] })
const OptionalTimestamp = t.Nullable(Timestamp)
const Count = Type.Integer({ minimum: 0 })

/** One of some words. The framework's own would fill in the first where none is given. */
const oneOf = <const Words extends [string, ...string[]] | readonly string[]>(
  words: Words,
  options: { description?: string } = {},
) => {
  const { default: _, ...schema } = t.UnionEnum(words as unknown as [string, ...string[]], options)
  return schema as unknown as TUnsafe<Words[number]>
}

/** The same, or null. */
const oneOfOrNull = <const Words extends readonly string[]>(
  words: Words,
  options: { description?: string } = {},
) => oneOf([...words, null] as unknown as Words, options) as TUnsafe<Words[number] | null>

/** `expected` is what an error message says of a value that does not fit. */
const EventType = t.String({
  expected: 'a dotted name like user.created',
  examples: ['user.created'],
})
const Channels = t.Array(t.String({ expected: 'the name of a channel' }), {
  maxItems: MOST_CHANNELS,
  expected: `a list of up to ${MOST_CHANNELS} channels`,
})
const AnyObject = t.Record(t.String(), t.Unknown(), { expected: 'a JSON object' })

export const NewMessage = lenient({
  event_type: EventType,
  payload: t.Object({}, { additionalProperties: true, expected: 'a JSON object' }),
  idempotency_key: t.Optional(
    t.String({ minLength: 1, maxLength: 256, expected: 'a string of 1 to 256 characters' }),
  ),
  channels: t.Optional(Channels),
})
export type NewMessage = typeof NewMessage.static

export const Message = t.Object({
  id: t.String(),
  event_type: t.String(),
  status: t.Literal('accepted'),
  timestamp: Timestamp,
})
export type Message = typeof Message.static

export const STATUSES = [
  'pending',
  'delivering',
  'retrying',
  'held',
  'succeeded',
  'failed',
  'cancelled',
] as const
export type Status = (typeof STATUSES)[number]
export const StatusFilter = oneOf(STATUSES)

export const Delivery = t.Object({
  id: t.String(),
  message_id: t.String(),
  endpoint_id: t.String(),
  event_type: t.String(),
  status: oneOf(STATUSES),
  held_reason: oneOfOrNull(['inactive', 'breaker'], {
    description: 'Why a held delivery is held.',
  }),
  run: Type.Integer({ description: 'Goes up with each resend or replay of an ended delivery.' }),
  attempts: Count,
  next_attempt_at: OptionalTimestamp,
  created_at: Timestamp,
  ended_at: OptionalTimestamp,
})
export type Delivery = typeof Delivery.static

const HeaderMap = t.Record(t.String(), t.String())
const Timings = t.Nullable(t.Record(t.String(), Type.Number()))
const requested = { method: t.Literal('POST'), url: t.String(), headers: HeaderMap }
const Request = t.Nullable(t.Object(requested))
const WholeRequest = t.Nullable(t.Object({ ...requested, body: t.String() }))
const Response = t.Nullable(
  t.Object({
    status: Type.Integer(),
    headers: t.Array(t.Array(t.String()), { description: 'Pairs of name and value.' }),
    body: t.String({ description: 'The first 16 KB.' }),
  }),
)
const AttemptError = t.Nullable(t.Object({ code: t.String(), message: t.String() }))

export const Attempt = t.Object({
  id: t.String(),
  run: Type.Integer(),
  number: Type.Integer(),
  trigger: oneOf(DELIVERY_TRIGGERS),
  status: oneOf(['succeeded', 'failed', 'interrupted']),
  started_at: Timestamp,
  duration_ms: Count,
  timings: Timings,
  address: t.Nullable(t.String()),
  request: Request,
  response: Response,
  error: AttemptError,
  next_attempt_at: OptionalTimestamp,
})
export type Attempt = typeof Attempt.static

export const DeliveryDetail = t.Object({
  ...Delivery.properties,
  request_body: t.String({ description: 'What every attempt sends, byte for byte.' }),
  attempt_log: t.Array(Attempt, { description: 'The last 100, oldest first.' }),
})
export type DeliveryDetail = typeof DeliveryDetail.static

/** What became of a message at one endpoint, and in words why. */
export const Verdict = t.Object({
  endpoint_id: t.String(),
  url: t.Nullable(t.String({ description: 'Null once the endpoint is deleted.' })),
  delivery_id: t.Nullable(t.String()),
  verdict: oneOf([
    ...STATUSES,
    'event_type',
    'channels',
    'later',
    'sandbox',
    'not_sent',
    'forgotten',
  ] as const),
  reason: t.String(),
})
export type Verdict = typeof Verdict.static

export const MessageDetail = t.Object({
  ...Message.properties,
  payload: AnyObject,
  channels: t.Array(t.String()),
  idempotency_key: t.Nullable(t.String()),
  endpoints: t.Array(Verdict),
})
export type MessageDetail = typeof MessageDetail.static

const EventTypes = t.Nullable(
  t.Array(t.String({ expected: 'a type like user.created or a pattern like user.*' }), {
    minItems: 1,
    maxItems: MOST_EVENT_TYPES,
    expected: `null for all, or a list of 1 to ${MOST_EVENT_TYPES} types`,
  }),
  { expected: `null for all, or a list of 1 to ${MOST_EVENT_TYPES} types` },
)

export const NewEndpoint = lenient({
  url: t.String({ expected: 'an http or https URL', examples: ['https://example.com/hook'] }),
  description: t.Optional(
    t.String({ maxLength: 500, expected: 'a string of up to 500 characters' }),
  ),
  event_types: t.Optional(EventTypes),
  channels: t.Optional(Channels),
  format: t.Optional(oneOf(FORMATS)),
  headers: t.Optional(
    t.Record(t.String(), t.String({ expected: 'a string' }), {
      expected: 'an object of header names and string values',
    }),
  ),
  active: t.Optional(t.Boolean()),
  secret: t.Optional(
    t.String({
      expected: 'whsec_ and base64 of 24 to 75 bytes',
      description: 'One that the receiver already knows; a new one is made without it.',
    }),
  ),
})
export type NewEndpoint = typeof NewEndpoint.static

const { secret: _, ...changeable } = NewEndpoint.properties
export const EndpointChange = lenient({
  ...changeable,
  url: t.Optional(changeable.url),
  held: t.Optional(
    oneOf(['drain', 'discard'], {
      description: 'With `active: true`: what becomes of held deliveries; `drain` unless given.',
    }),
  ),
})
export type EndpointChange = typeof EndpointChange.static

export const Endpoint = t.Object({
  id: t.String(),
  url: t.String(),
  description: t.String(),
  event_types: t.Nullable(t.Array(t.String())),
  channels: t.Array(t.String()),
  format: oneOf(FORMATS),
  headers: HeaderMap,
  active: t.Boolean(),
  disabled_reason: oneOfOrNull(['manual', 'gone', 'failing']),
  health: t.Object({
    breaker: oneOf(['closed', 'open', 'recovering']),
    open_until: OptionalTimestamp,
    failures_in_a_row: Count,
    failing_since: OptionalTimestamp,
  }),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type Endpoint = typeof Endpoint.static

export const CreatedEndpoint = t.Object({
  ...Endpoint.properties,
  secret: t.String({ description: 'Shown this once.' }),
})
export type CreatedEndpoint = typeof CreatedEndpoint.static

export const Rotation = lenient({
  secret: NewEndpoint.properties.secret,
  grace_seconds: t.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 604_800,
      default: 86_400,
      description: 'How long the secret before signs beside the new one.',
    }),
  ),
})
export type Rotation = typeof Rotation.static

export const Rotated = t.Object({
  secret: t.String({ description: 'Shown this once.' }),
  previous_expires_at: OptionalTimestamp,
})
export type Rotated = typeof Rotated.static

export const TestRequest = lenient({
  event_type: t.Optional(EventType),
  payload: t.Optional(t.Object({}, { additionalProperties: true, expected: 'a JSON object' })),
})
export type TestRequest = typeof TestRequest.static

export const TestResult = t.Object({
  succeeded: t.Boolean(),
  duration_ms: Count,
  timings: Timings,
  address: t.Nullable(t.String()),
  request: WholeRequest,
  response: Response,
  error: AttemptError,
})
export type TestResult = typeof TestResult.static

export const ReplayRequest = lenient({
  since: t.String({
    expected: 'a time like 2026-01-31T12:00:00Z',
    examples: ['2026-01-31T12:00:00Z'],
  }),
  until: t.Optional(t.String({ expected: 'a time like 2026-01-31T12:00:00Z' })),
  which: t.Optional(
    oneOf(['undelivered', 'all'], {
      description: 'Messages that never arrived, or all; `undelivered` unless given.',
    }),
  ),
  per_second: t.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1000,
      description: 'How many are sent a second; 10 unless given.',
    }),
  ),
  dry_run: t.Optional(t.Boolean({ description: 'Only counts.' })),
})
export type ReplayRequest = typeof ReplayRequest.static

export const Replay = t.Object({ count: Count })
export type Replay = typeof Replay.static

const HourStats = t.Object({
  hour: Timestamp,
  succeeded: Count,
  failed: Count,
  exhausted: Type.Integer({ description: 'Deliveries that ended without success.' }),
  cancelled: Count,
  average_ms: t.Nullable(Count),
  slowest_ms: Count,
  up_to_100_ms: Count,
  up_to_300_ms: Count,
  up_to_1000_ms: Count,
  up_to_3000_ms: Count,
})
export const Stats = t.Object({ data: t.Array(HourStats) })
export type Stats = typeof Stats.static

export const EventTypeSeen = t.Object({
  name: t.String(),
  first_seen_at: Timestamp,
  last_seen_at: Timestamp,
  count: Count,
  breaking_changes: Count,
})
export type EventTypeSeen = typeof EventTypeSeen.static

export const EventTypeDetail = t.Object({
  ...EventTypeSeen.properties,
  sample: t.Nullable(AnyObject),
  schema: AnyObject,
  drift: t.Array(
    t.Object({
      at: Timestamp,
      path: t.String(),
      change: oneOf(['added', 'missing', 'retyped']),
      was: t.Optional(t.String()),
      now: t.Optional(t.String()),
      breaking: t.Boolean(),
    }),
  ),
})
export type EventTypeDetail = typeof EventTypeDetail.static
