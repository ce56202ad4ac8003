import type { Config } from '../../config/index.ts'
import type { Delivery } from '../../delivery/index.ts'
import type { Access } from '../../http/access.ts'
import type { Platform } from '../../platform/platform.ts'
import { createCatalog } from './catalog.ts'
import { createDeliveries } from './deliveries.ts'
import { createRelayEndpoints } from './endpoints.ts'
import { createEventTypes } from './event-types.ts'
import { createFanOuts } from './fan-out.ts'
import { createMessages } from './messages.ts'
import { createRelayMetrics } from './metrics.ts'
import { createOperationalEvents } from './operational-events.ts'
import { createQueries } from './queries.ts'
import { addRelayResources } from './resources.ts'
import { relayRetention } from './retention.ts'
import { createRoutes } from './routes/index.ts'
import { createSignedRequests } from './signed-requests.ts'
import { createStore } from './store/index.ts'
import { announceUsage } from './usage-notices.ts'

export type Relay = ReturnType<typeof createRelay>

/** The event relay: accepts an event once and delivers it to every endpoint that matches. */
export function createRelay(
  platform: Platform,
  delivery: Delivery,
  config: Pick<Config, 'relay' | 'retention' | 'brand'>,
  { access, baseUrl }: { access: Access; baseUrl: () => string },
) {
  const { db, clock, metering, metrics, retention, resources } = platform
  const store = createStore(db)
  const messages = createMessages({
    db,
    clock,
    delivery,
    store,
    catalog: createCatalog({ db, store }),
    events: createRelayMetrics(metrics, db),
    metering,
    idempotencyWindowMs: config.relay.idempotencyWindowMs,
  })
  announceUsage(metering, messages)
  const endpoints = createRelayEndpoints({ delivery, store, clock, metering })
  const deliveries = createDeliveries({ delivery, metering })
  const eventTypes = createEventTypes({ store })
  retention.add(...relayRetention(store, config.retention))
  addRelayResources(resources, delivery)

  const routes = createRoutes({ messages, endpoints, deliveries, eventTypes, access })
  return {
    messages,
    tell: createOperationalEvents({ delivery, messages, clock, baseUrl }),
    endpoints,
    deliveries,
    eventTypes,
    routes,
    queries: createQueries({ delivery, clock }),
    fanOutOf: createFanOuts({ delivery }),
    signedRequestOf: createSignedRequests({ delivery, clock, brandName: config.brand.name }),
  }
}
