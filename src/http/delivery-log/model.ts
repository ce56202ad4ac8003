import { Type } from '@sinclair/typebox'
import { t } from 'elysia'
import { DELIVERY_TRIGGERS } from '../../delivery/triggers.ts'
import {
  Count,
  HeaderMap,
  lenient,
  OptionalTimestamp,
  oneOf,
  oneOfOrNull,
  Timestamp,
  Timings,
} from '../schemas.ts'

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
  held_reason: oneOfOrNull(['inactive', 'breaker'], { description: 'Why the delivery is held.' }),
  run: Type.Integer({ description: 'Increases with each resend or replay of an ended delivery.' }),
  attempts: Count,
  next_attempt_at: OptionalTimestamp,
  created_at: Timestamp,
  ended_at: OptionalTimestamp,
})
export type Delivery = typeof Delivery.static

const requested = { method: t.Literal('POST'), url: t.String(), headers: HeaderMap }
const Request = t.Nullable(t.Object(requested))
const WholeRequest = t.Nullable(t.Object({ ...requested, body: t.String() }))
const Response = t.Nullable(
  t.Object({
    status: Type.Integer(),
    headers: t.Array(t.Array(t.String()), { description: 'Pairs of name and value.' }),
    body: t.String({ description: 'First 16 KB.' }),
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
  request_body: t.String({ description: 'The body that every attempt sends, byte for byte.' }),
  attempt_log: t.Array(Attempt, { description: 'The last 100, oldest first.' }),
})
export type DeliveryDetail = typeof DeliveryDetail.static

/** The result of a test event. */
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

/** How long a replaced secret keeps signing by default, in seconds. */
export const USUAL_GRACE_S = 86_400

/** A secret that the receiver already has. */
export const GivenSecret = t.Optional(
  t.String({
    expected: 'whsec_ and base64 of 24 to 75 bytes',
    description: 'A secret that the receiver already knows. Default: a new one.',
  }),
)

export const Rotation = lenient({
  secret: GivenSecret,
  grace_seconds: t.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 604_800,
      default: USUAL_GRACE_S,
      description: 'How long the previous secret also signs.',
    }),
  ),
})
export type Rotation = typeof Rotation.static

export const Rotated = t.Object({
  secret: t.String({ description: 'Shown only once.' }),
  previous_expires_at: OptionalTimestamp,
})
export type Rotated = typeof Rotated.static
