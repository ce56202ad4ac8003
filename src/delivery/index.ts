import type { Config } from '../config/index.ts'
import { createDueLoop } from '../platform/due/loop.ts'
import type { Platform } from '../platform/platform.ts'
import { createByHand } from './by-hand.ts'
import { createDirectory } from './directory.ts'
import { createEndings } from './endings.ts'
import { createEndpoints } from './endpoints.ts'
import { createErase } from './erase.ts'
import { createDeliveryMetrics } from './metrics.ts'
import { createParking } from './parking.ts'
import { createPolicyOf, type Policies } from './policy.ts'
import { createPublish } from './publish.ts'
import { createDeliveryQueue } from './queue.ts'
import { createRecovery } from './recovery.ts'
import { createReplay } from './replay.ts'
import { deliveryRetention } from './retention.ts'
import { createSend } from './send.ts'
import { createStore } from './store/index.ts'
import { LINES, type Line } from './store/rows.ts'
import { createTestEvent } from './test-event.ts'
import { createVerdicts } from './verdicts.ts'
import { createWake } from './wake.ts'

export type Delivery = ReturnType<typeof createDelivery>

/** Events to the endpoints that want them, whichever engine they come from. */
export function createDelivery(
  platform: Platform,
  config: Pick<Config, 'retention' | 'brand'>,
  policies: Policies,
) {
  const { db, clock, log, outbound, audit, metrics, retention, instances, sealing } = platform
  const policyOf = createPolicyOf(policies)
  const brandName = config.brand.name
  const store = createStore(db)
  const wake = createWake(() => loops)
  const directory = createDirectory({ db, store, sealing })
  const recovery = createRecovery({ store, clock, wake })
  const parking = createParking({ db, clock, store, log })
  const send = createSend({ outbound, clock, brandName })
  const endings = createEndings({
    store,
    clock,
    log,
    audit,
    directory,
    recovery,
    parking,
    wake,
    events: createDeliveryMetrics({ metrics, clock, db }, store),
    policyOf,
  })

  function createLoop(line: Line) {
    const queue = createDeliveryQueue({
      line,
      store,
      clock,
      log,
      directory,
      recovery,
      parking,
      endings,
      wake,
      send,
      policyOf,
      longestMs: Math.max(...Object.values(policies).map((policy) => policy.timeoutMs)),
    })
    return createDueLoop({ queue, db, clock, log, instances })
  }
  const loops = [createLoop(LINES.first), createLoop(LINES.again)]
  retention.add(...deliveryRetention(store, parking, config.retention))

  return {
    messages: store.messages,
    deliveries: store.deliveries,
    attempts: store.attempts,
    hours: store.hours,
    glances: store.glances,
    endpointLooks: store.endpointLooks,
    fanOut: store.fanOut,
    ...createPublish({ store, directory, recovery, wake, policyOf }),
    endpoints: createEndpoints({
      db,
      clock,
      outbound,
      audit,
      store,
      directory,
      recovery,
      parking,
      brandName,
    }),
    healthOf: recovery.healthOf,
    ...createVerdicts({ store }),
    ...createByHand({ db, clock, audit, store, wake }),
    replay: createReplay({ db, clock, audit, store, directory, wake }),
    testEvent: createTestEvent({ clock, send, policyOf }),
    erase: createErase({ store, clock }),
    /** Looks for work at once, as after another process has made some. */
    look: wake.ready,
    start: () => {
      for (const loop of loops) loop.start()
    },
    stop: (graceMs: number) => Promise.all(loops.map((loop) => loop.stop(graceMs))),
    idle: () => Promise.all(loops.map((loop) => loop.idle())),
  }
}
