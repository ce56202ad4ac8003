import { t } from 'elysia'
import type { Delivery } from '../../delivery/index.ts'
import { EVENT_TYPES, webhookStream } from '../../engines/gate/webhooks/events.ts'
import type { Webhooks } from '../../engines/gate/webhooks/index.ts'
import { NewWebhook } from '../../engines/gate/webhooks/model.ts'
import { collection, type Item } from '../section.ts'

/** Webhooks for the events of users, by their URL. */
export const userWebhooksSection = (webhooks: Webhooks, delivery: Delivery) =>
  collection<NewWebhook>({
    name: 'user_webhooks',
    noun: 'webhook of user events',
    key: 'url',
    schema: t.Object(NewWebhook.properties, { additionalProperties: false }),
    defaultsOf: () => ({ events: EVENT_TYPES }),
    initial: { active: true },
    masked: ({ secret: _, ...item }: Item) => item,
    list: ({ tenantId }) =>
      delivery.endpoints
        .all(webhookStream(tenantId))
        .map((row) => ({
          id: row.id,
          item: {
            url: row.url,
            events: row.eventTypes ?? EVENT_TYPES,
            active: row.isActive,
            secret: row.secrets.find(({ expiresAt }) => expiresAt === null)?.secret,
          },
        })),
    create: (caller, webhook) => webhooks.create(caller, webhook),
    update: (caller, id, change) => webhooks.update(caller, id, change),
    remove: (caller, id) => webhooks.remove(caller, id),
  })
