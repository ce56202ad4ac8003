import { t } from 'elysia'
import { maskHeaders } from '../../delivery/custom-headers.ts'
import type { Delivery } from '../../delivery/index.ts'
import type { RelayEndpoints } from '../../engines/relay/endpoints.ts'
import { NewEndpoint } from '../../engines/relay/model/endpoints.ts'
import { streamOf } from '../../engines/relay/stream.ts'
import { collection, type Item } from '../section.ts'

const DEFAULTS = {
  description: '',
  event_types: null,
  channels: [],
  format: 'standard',
  headers: {},
} satisfies Partial<NewEndpoint>

/**
 * Webhook endpoints of the caller's environment, by their URL. A secret is set when an endpoint is
 * created; later ones need a rotation, so that receivers can follow.
 */
export const endpointsSection = (endpoints: RelayEndpoints, delivery: Delivery) =>
  collection<NewEndpoint>({
    name: 'endpoints',
    noun: 'endpoint',
    key: 'url',
    schema: t.Object(NewEndpoint.properties, { additionalProperties: false }),
    defaultsOf: () => DEFAULTS,
    initial: { active: true },
    masked: ({ secret: _, ...item }: Item) => ({
      ...item,
      headers: maskHeaders(item.headers as Record<string, string>),
    }),
    list: (caller) =>
      delivery.endpoints
        .all(streamOf(caller))
        .map((row) => ({
          id: row.id,
          item: {
            url: row.url,
            description: row.description,
            event_types: row.eventTypes,
            channels: row.channels,
            format: row.format,
            headers: row.headers,
            active: row.isActive,
            secret: row.secrets.find(({ expiresAt }) => expiresAt === null)?.secret,
          },
        })),
    create: (caller, endpoint) => endpoints.create(caller, endpoint),
    update: (caller, id, change) => endpoints.update(caller, id, change),
    remove: (caller, id) => endpoints.remove(caller, id),
  })
