import { t } from 'elysia'
import { Count, oneOf, Timestamp } from '../../../http/schemas.ts'
import { AnyObject } from './fields.ts'

export const EventTypeSeen = t.Object({
  name: t.String({ examples: ['user.created'] }),
  first_seen_at: Timestamp,
  last_seen_at: Timestamp,
  count: Count,
  breaking_changes: Count,
  built_in: t.Boolean({ description: 'Whether Gatehouse sends events of this type.' }),
})
export type EventTypeSeen = typeof EventTypeSeen.static

export const EventTypeDetail = t.Object({
  ...EventTypeSeen.properties,
  first_seen_at: t.Nullable(Timestamp),
  last_seen_at: t.Nullable(Timestamp),
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
