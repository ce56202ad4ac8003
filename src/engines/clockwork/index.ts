import type { Config } from '../../config/index.ts'
import type { Tell } from '../../delivery/operational.ts'
import type { Scoped } from '../../http/scoped.ts'
import { createDueLoop } from '../../platform/due/loop.ts'
import type { Platform } from '../../platform/platform.ts'
import { createAttempt } from './attempt.ts'
import { createBeginAttempt } from './begin-attempt.ts'
import { createCompleteDelayedJob } from './complete-delayed-job.ts'
import { createCronJobs } from './cron-jobs.ts'
import { createDelayedJobs } from './delayed-jobs.ts'
import { createJobAlerts } from './job-alerts.ts'
import { createClockworkMetrics } from './metrics.ts'
import { createMonitoring, type MonitorParts } from './monitors/index.ts'
import { createPreview } from './preview.ts'
import { createQueries } from './queries.ts'
import { createRunQueue } from './queue.ts'
import { checkRequest, type JobRequest } from './request.ts'
import { clockworkRetention } from './retention.ts'
import { createRoutes } from './routes.ts'
import { createSecretHeaders } from './secret-headers.ts'
import { createSettling } from './settling.ts'
import { createSigningSecrets } from './signing-secret.ts'
import { createSlots } from './slots.ts'
import { createStore } from './store/index.ts'
import { createTick } from './tick.ts'

export type Clockwork = ReturnType<typeof createClockwork>

/** The scheduler engine: HTTP jobs on a cron schedule or at a single time, and monitors of others. */
export function createClockwork(
  platform: Platform,
  config: Pick<Config, 'clockwork' | 'retention'>,
  parts: MonitorParts & { tell: Tell },
) {
  const { db, clock, log, outbound, metrics, retention, instances, resources, alerts } = platform
  const { tickMs, retryDelaysMs, timeoutMs } = config.clockwork
  const store = createStore(db)
  const secretHeaders = createSecretHeaders(platform.sealing)
  const signingSecrets = createSigningSecrets({ ...platform, store })
  const tick = createTick(tickMs)
  const events = createClockworkMetrics({ metrics, clock, db }, store)
  const completeDelayedJob = createCompleteDelayedJob({
    store,
    keptMs: config.retention.delayedJobsMs,
  })
  const jobAlerts = createJobAlerts({ store, alerts, tell: parts.tell })
  const monitoring = createMonitoring(platform, { ...parts, expect: (at) => loop.expect(at) })
  const queue = createRunQueue({
    store,
    clock,
    tick,
    timeoutMs,
    slots: createSlots({ store, clock, jobAlerts, events }),
    beginAttempt: createBeginAttempt({
      store,
      clock,
      failuresKeptMs: config.retention.failedExecutionsMs,
      timeoutMs,
    }),
    settling: createSettling({ store, tick, retryDelaysMs, completeDelayedJob, jobAlerts, events }),
    send: createAttempt({ outbound, clock, secretHeaders, signingSecrets }),
    watch: monitoring.watch,
  })
  const loop = createDueLoop({ queue, db, clock, log, instances })
  const { nudge } = loop
  const expect = (at: number) => loop.expect(tick.ceil(at))
  const stored = { ...platform, store, secretHeaders, signingSecrets }
  const jobs = createCronJobs({ ...stored, nudge, expect })
  const delayed = createDelayedJobs({ ...stored, completeDelayedJob, expect })
  const preview = createPreview({ clock, outbound })
  retention.add(...clockworkRetention(store), monitoring.retention)
  const { cronJobs, delayedJobs } = store
  resources.add('clockwork:job', (tenantId, id) => cronJobs.find(tenantId, id) !== undefined)
  resources.add('clockwork:delayed', (tenantId, id) => delayedJobs.find(tenantId, id) !== undefined)

  const routes = (at: { prefix: string; access: Scoped }) =>
    createRoutes({ ...at, jobs, delayed, preview, signingSecrets }).use(
      monitoring.routes(at.access),
    )

  /** Checks parts of a request for a form, which shows all errors together. */
  const checkCall = (call: Partial<JobRequest>) => checkRequest(outbound, call)

  return {
    jobs,
    delayed,
    preview,
    signingSecrets,
    monitors: monitoring.monitors,
    checkCall,
    queries: { ...createQueries(store), monitors: monitoring.queries },
    loop,
    routes,
    publicRoutes: monitoring.publicRoutes,
  }
}
