import { Type } from '@sinclair/typebox'
import { t } from 'elysia'
import { FORMATS } from '../../../delivery/formats.ts'
import { GivenSecret } from '../../../http/delivery-log/model.ts'
import {
  Count,
  HeaderMap,
  lenient,
  Moment,
  OptionalTimestamp,
  oneOf,
  oneOfOrNull,
  Timestamp,
  Url,
} from '../../../http/schemas.ts'
import { MAX_EVENT_TYPES } from '../limits.ts'
import { channels, EventType, Payload } from './fields.ts'

const EventTypes = t.Nullable(
  t.Array(t.String({ expected: 'a type like user.created or a pattern like user.*' }), {
    minItems: 1,
    maxItems: MAX_EVENT_TYPES,
    expected: `null for all, or a list of 1 to ${MAX_EVENT_TYPES} types`,
  }),
  { expected: `null for all, or a list of 1 to ${MAX_EVENT_TYPES} types` },
)

export const NewEndpoint = lenient(
  {
    url: Url,
    description: t.Optional(
      t.String({ maxLength: 500, expected: 'a string of up to 500 characters' }),
    ),
    event_types: t.Optional(EventTypes),
    channels: t.Optional(
      channels(
        'Excludes messages that are restricted to other channels. If empty, the endpoint listens on all channels.',
      ),
    ),
    format: t.Optional(oneOf(FORMATS)),
    headers: t.Optional(
      t.Record(t.String(), t.String({ expected: 'a string' }), {
        expected: 'an object of header names and string values',
      }),
    ),
    active: t.Optional(t.Boolean()),
    secret: GivenSecret,
  },
  {
    examples: [
      {
        url: 'https://example.com/hook',
        description: 'Customer data platform',
        event_types: ['user.*'],
      },
    ],
    defaults: {
      description: '',
      event_types: null,
      channels: [],
      format: 'standard',
      headers: {},
      active: true,
    },
  },
)
export type NewEndpoint = typeof NewEndpoint.static

const { secret: _, ...changeable } = NewEndpoint.properties
export const EndpointChange = lenient(
  {
    ...changeable,
    url: t.Optional(changeable.url),
    held: t.Optional(
      oneOf(['drain', 'discard'], {
        description:
          'With `active: true`: sends (`drain`, default) or cancels (`discard`) held deliveries.',
      }),
    ),
  },
  { examples: [{ active: true, held: 'drain' }] },
)
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
  secret: t.String({ description: 'Shown only once.' }),
})
export type CreatedEndpoint = typeof CreatedEndpoint.static

export const TestRequest = lenient(
  { event_type: t.Optional(EventType), payload: t.Optional(Payload) },
  { examples: [{ event_type: 'user.created', payload: { id: 42 } }] },
)
export type TestRequest = typeof TestRequest.static

export const ReplayRequest = lenient(
  {
    since: Moment,
    until: t.Optional(t.String({ expected: 'a time like 2026-01-31T12:00:00Z' })),
    which: t.Optional(
      oneOf(['undelivered', 'all'], { description: 'Undelivered messages or all.' }),
    ),
    per_second: t.Optional(
      Type.Integer({ minimum: 1, maximum: 1000, description: 'Messages per second.' }),
    ),
    dry_run: t.Optional(t.Boolean({ description: 'Only counts the messages.' })),
  },
  {
    examples: [{ since: '2026-01-31T12:00:00Z', which: 'undelivered', per_second: 50 }],
    defaults: { which: 'undelivered', per_second: 10, dry_run: false },
  },
)
export type ReplayRequest = typeof ReplayRequest.static

export const Replay = t.Object({ count: Count })
export type Replay = typeof Replay.static

const HourStats = t.Object({
  hour: Timestamp,
  succeeded: Count,
  failed: Count,
  exhausted: Type.Integer({ description: 'Deliveries that ended as failed.' }),
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
