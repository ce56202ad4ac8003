import { t } from 'elysia'
import { STATUSES } from '../../../http/delivery-log/model.ts'
import { lenient, oneOf, Timestamp } from '../../../http/schemas.ts'
import { AnyObject, channels, EventType, Payload } from './fields.ts'

export const NewMessage = lenient(
  {
    event_type: EventType,
    payload: Payload,
    idempotency_key: t.Optional(
      t.String({ minLength: 1, maxLength: 256, expected: 'a string of 1 to 256 characters' }),
    ),
    channels: t.Optional(
      channels(
        'Delivers to endpoints that listen to one of these channels or to all. Without channels, delivers to every endpoint subscribed to the type.',
      ),
    ),
  },
  { examples: [{ event_type: 'user.created', payload: { id: 42, email: 'ada@example.com' } }] },
)
export type NewMessage = typeof NewMessage.static

export const Message = t.Object({
  id: t.String(),
  event_type: t.String(),
  status: t.Literal('accepted'),
  timestamp: Timestamp,
})
export type Message = typeof Message.static

/** The outcome of a message at one endpoint, with the reason in words. */
export const EndpointOutcome = t.Object({
  endpoint_id: t.String(),
  url: t.Nullable(t.String({ description: 'Null if the endpoint is deleted.' })),
  delivery_id: t.Nullable(t.String()),
  verdict: oneOf([
    ...STATUSES,
    'event_type',
    'channels',
    'own',
    'later',
    'sandbox',
    'not_sent',
    'forgotten',
  ] as const),
  reason: t.String({ examples: ['Delivered with the first attempt.'] }),
})
export type EndpointOutcome = typeof EndpointOutcome.static

export const MessageDetail = t.Object({
  ...Message.properties,
  payload: AnyObject,
  channels: t.Array(t.String()),
  idempotency_key: t.Nullable(t.String()),
  endpoints: t.Array(EndpointOutcome),
})
export type MessageDetail = typeof MessageDetail.static
