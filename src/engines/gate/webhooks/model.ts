import { t } from 'elysia'
import { GivenSecret } from '../../../http/delivery-log/model.ts'
import { lenient, oneOf, Timestamp, Url } from '../../../http/schemas.ts'
import { EVENT_TYPES } from './events.ts'

const EventType = oneOf(EVENT_TYPES)
const Events = t.Array(EventType, {
  minItems: 1,
  expected: `a list of at least 1 of ${EVENT_TYPES.join(', ')}`,
})

export const Webhook = t.Object({
  id: t.String(),
  url: t.String(),
  events: t.Array(EventType),
  active: t.Boolean({
    description: 'False pauses delivery. Events are held and sent when you resume the webhook.',
  }),
  created_at: Timestamp,
})
export type Webhook = typeof Webhook.static

export const Webhooks = t.Object({ webhooks: t.Array(Webhook) })
export const CreatedWebhook = t.Object({
  ...Webhook.properties,
  secret: t.String({ description: 'Shown only once.' }),
})
export type CreatedWebhook = typeof CreatedWebhook.static

const changeable = { events: t.Optional(Events), active: t.Optional(t.Boolean()) }
export const NewWebhook = lenient(
  { ...changeable, url: Url, secret: GivenSecret },
  {
    examples: [
      { url: 'https://example.com/hook', events: ['identity.created', 'identity.deleted'] },
    ],
    defaults: { events: EVENT_TYPES, active: true },
  },
)
export type NewWebhook = typeof NewWebhook.static
export const WebhookChange = lenient(
  { ...changeable, url: t.Optional(Url) },
  { examples: [{ events: ['identity.created'], active: true }] },
)
export type WebhookChange = typeof WebhookChange.static

export const TestRequest = lenient(
  { event_type: t.Optional(EventType) },
  { examples: [{ event_type: 'identity.created' }] },
)
export type TestRequest = typeof TestRequest.static
