import type { Config } from '../../config/index.ts'
import type { Access } from '../../http/access.ts'
import { createDueLoop } from '../../platform/due-loop.ts'
import type { Platform } from '../../platform/platform.ts'
import { createAttempt } from './attempt.ts'
import { createCronJobs } from './cron-jobs.ts'
import { createDelayedJobs } from './delayed-jobs.ts'
import { createClockworkMetrics } from './metrics.ts'
import { createRunQueue } from './queue.ts'
import { clockworkRetention } from './retention.ts'
import { createRoutes } from './routes.ts'
import { createStore } from './store/index.ts'
import { createTick } from './tick.ts'

const DAY_MS = 86_400_000
const DELAYED_KEPT_MS = 30 * DAY_MS
const FAILURES_KEPT_MS = 7 * DAY_MS

export type Clockwork = ReturnType<typeof createClockwork>

/** The scheduler engine: HTTP jobs on a cron schedule or once at a time. */
export function createClockwork(platform: Platform, config: Config['clockwork'], access: Access) {
  const { db, clock, log, outbound, metrics, retention, instances } = platform
  const store = createStore(db)
  const queue = createRunQueue({
    store,
    clock,
    tick: createTick(config.tickMs),
    settings: {
      timeoutMs: config.timeoutMs,
      retryDelaysMs: config.retryDelaysMs,
      delayedKeptMs: DELAYED_KEPT_MS,
      failuresKeptMs: FAILURES_KEPT_MS,
    },
    events: createClockworkMetrics(metrics, store, clock),
    send: createAttempt({ outbound, clock, timeoutMs: config.timeoutMs }),
  })
  const loop = createDueLoop({ queue, db, clock, log, instances })
  const { nudge } = loop
  const jobs = createCronJobs({ db, clock, outbound, store, nudge })
  const delayed = createDelayedJobs({ db, clock, outbound, store, keptMs: DELAYED_KEPT_MS, nudge })
  retention.add(...clockworkRetention(store))

  return { jobs, delayed, loop, routes: createRoutes({ jobs, delayed, access }) }
}
