import type { Scoped } from '../../../http/scoped.ts'
import type { Platform } from '../../../platform/platform.ts'
import type { RetentionRule } from '../../../platform/retention.ts'
import { createBadgeRoutes } from './badge-routes.ts'
import { TRANSITIONS_KEPT_MS } from './limits.ts'
import { createMonitors } from './monitors.ts'
import { createPingRoutes } from './ping-routes.ts'
import { createPings } from './pings.ts'
import { createQueries } from './queries.ts'
import { createMonitorRoutes } from './routes.ts'
import { createStore } from './store.ts'
import { createTransitions, type OnTransition } from './transitions.ts'
import { createWatch } from './watch.ts'

/** What monitors need of the program around them. */
export interface MonitorParts {
  baseUrl: () => string
  addressOf: (request: Request) => string | undefined
  maxBody: number
  onTransition: OnTransition
}

/** Heartbeat monitors: programs send pings, and a monitor is down if one doesn't arrive in time. */
export function createMonitoring(
  platform: Platform,
  { expect, ...parts }: MonitorParts & { expect: (at: number) => void },
) {
  const { db, alerts, instances, resources } = platform
  const store = createStore(db)
  const transitions = createTransitions({ store, alerts, onTransition: parts.onTransition })
  const monitors = createMonitors({ ...platform, ...parts, store, transitions })
  const pings = createPings({ ...platform, store, transitions, expect })
  resources.add(
    'clockwork:monitor',
    (tenantId, id) => store.monitors.find(tenantId, id) !== undefined,
  )

  const retention: RetentionRule = {
    name: 'monitor transitions',
    deleteSlice: (now, limit) => store.transitions.removeBefore(now - TRANSITIONS_KEPT_MS, limit),
  }

  return {
    monitors,
    retention,
    queries: createQueries(store),
    watch: createWatch({ store, transitions, instances }),
    routes: (access: Scoped) => createMonitorRoutes({ access, monitors }),
    publicRoutes: [
      createPingRoutes({ ...parts, pings }),
      createBadgeRoutes({ ...parts, store, refuseUnknown: pings.refuseUnknown }),
    ] as const,
  }
}
