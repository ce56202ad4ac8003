import type { Config } from '../config/index.ts'
import { createDueLoop } from '../platform/due/loop.ts'
import type { Platform } from '../platform/platform.ts'
import { createBulkHold } from './bulk-hold.ts'
import { createByHand } from './by-hand.ts'
import { createCircuitBreaker } from './circuit-breaker.ts'
import { createEndpointAlerts } from './endpoint-alerts.ts'
import { createEndpointCache } from './endpoint-cache.ts'
import { createEndpointEvents } from './endpoint-events.ts'
import { createEndpoints } from './endpoints.ts'
import { createErase } from './erase.ts'
import { createMessageOutcomes } from './message-outcomes.ts'
import { createDeliveryMetrics } from './metrics.ts'
import type { Tell } from './operational.ts'
import { createPolicyOf, type Policies } from './policy.ts'
import { createPublish } from './publish.ts'
import { createQueries } from './queries.ts'
import { createDeliveryQueue } from './queue.ts'
import { createReplay } from './replay.ts'
import { deliveryRetention } from './retention.ts'
import { createSelfTest } from './self-test.ts'
import { createSend } from './send.ts'
import { createSettling } from './settling.ts'
import { createStore } from './store/index.ts'
import type { DeliveryQueue } from './store/rows.ts'
import { createTestEvent } from './test-event.ts'
import { createWake } from './wake.ts'

export type Delivery = ReturnType<typeof createDelivery>

/** Delivers the events of any engine to the endpoints that subscribe to them, and reports endpoints that fail. */
export function createDelivery(
  platform: Platform,
  config: Pick<Config, 'retention' | 'brand'>,
  policies: Policies,
  tell: Tell,
) {
  const { db, clock, log, outbound, audit, alerts, metrics, retention, instances, sealing } =
    platform
  const policyOf = createPolicyOf(policies)
  const brandName = config.brand.name
  const store = createStore(db)
  const wake = createWake(db.commit, () => loops)
  const endpointCache = createEndpointCache({ db, store, sealing })
  const circuitBreaker = createCircuitBreaker({ store, clock, wake })
  const selfTest = createSelfTest({ store })
  const endpointEvents = createEndpointEvents({ store, clock, tell })
  const endpointAlerts = createEndpointAlerts({ alerts, endpointEvents })
  const bulkHold = createBulkHold({ db, clock, store, log })
  const send = createSend({ outbound, clock, brandName })
  const settling = createSettling({
    store,
    clock,
    log,
    audit,
    endpointCache,
    circuitBreaker,
    bulkHold,
    endpointAlerts,
    wake,
    events: createDeliveryMetrics({ metrics, clock, db }, store),
    policyOf,
  })

  function createLoop(name: DeliveryQueue) {
    const queue = createDeliveryQueue({
      name,
      store,
      clock,
      log,
      endpointCache,
      circuitBreaker,
      bulkHold,
      settling,
      wake,
      send,
      policyOf,
      longestMs: Math.max(...Object.values(policies).map((policy) => policy.timeoutMs)),
    })
    return createDueLoop({ queue, db, clock, log, instances })
  }
  const loops = [createLoop('first'), createLoop('again')]
  retention.add(...deliveryRetention(store, bulkHold, config.retention))

  return {
    messages: store.messages,
    deliveries: store.deliveries,
    attempts: store.attempts,
    hours: store.hours,
    queries: createQueries(store),
    endpointSummaries: store.endpointSummaries,
    fanOut: store.fanOut,
    ...createPublish({ store, endpointCache, circuitBreaker, selfTest, wake, policyOf }),
    endpoints: createEndpoints({
      db,
      clock,
      outbound,
      audit,
      store,
      endpointCache,
      endpointAlerts,
      circuitBreaker,
      bulkHold,
      brandName,
    }),
    healthOf: circuitBreaker.healthOf,
    ...createMessageOutcomes({ store, selfTest }),
    ...createByHand({ db, clock, audit, store, wake }),
    replay: createReplay({ db, clock, audit, store, endpointCache, selfTest, wake }),
    testEvent: createTestEvent({ clock, send, policyOf }),
    erase: createErase({ store, clock }),
    /** Checks for work immediately, for example after another process has created some. */
    nudge: () => {
      for (const loop of loops) loop.nudge()
    },
    start: () => {
      for (const loop of loops) loop.start()
    },
    stop: (graceMs: number) => Promise.all(loops.map((loop) => loop.stop(graceMs))),
    idle: () => Promise.all(loops.map((loop) => loop.idle())),
  }
}
