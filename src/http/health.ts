import { sql } from 'drizzle-orm'
import { Elysia, t } from 'elysia'
import type { FileLoss } from '../db/file-identity.ts'
import type { Db } from '../db/open.ts'
import { notFound, unavailable } from '../platform/errors.ts'
import { installationOf, markOf } from '../platform/installation.ts'
import type { Metrics } from '../platform/metrics/index.ts'
import { createProcessMetrics } from '../platform/metrics/process.ts'
import { createStorageMetrics } from '../platform/metrics/storage.ts'
import type { Siblings } from '../platform/siblings.ts'

const statusLike = (example: string) => t.Object({ status: t.String({ examples: [example] }) })
const Alive = t.Object({
  status: t.String({ examples: ['alive'] }),
  installation: t.Optional(
    t.String({ description: 'Same for all processes on one data directory.' }),
  ),
})

/** The status in `/readyz` if the open database is no longer the one in the data directory. */
const LOST: Record<FileLoss['reason'], string> = {
  missing: 'database missing',
  replaced: 'database replaced',
  unreachable: 'database unreachable',
}

/** Paths that are served without the database. */
const WITHOUT_DATABASE = /^\/(?:healthz|readyz|metrics|assets\/.+)$/

/** For load balancers, orchestrators and Prometheus; needs no credentials, reveals no secrets. */
export function createHealth(parts: {
  db: Db
  metrics: Metrics
  siblings: Siblings
  metricsEnabled: boolean
}) {
  const { db, metrics, siblings, metricsEnabled } = parts
  const ping = db.orm.select({ one: sql`1` }).from(sql`sqlite_schema`).limit(1).prepare()
  const installation = installationOf(db)
  const alive = { status: 'alive', ...(installation && { installation: markOf(installation) }) }
  const mayServe = siblings.tenure?.fence.isOpen ?? (() => true)
  let state: 'starting' | 'ready' | 'draining' = 'starting'
  const watch = metricsEnabled ? createOwnMetrics(metrics, db) : undefined
  siblings.onScrape(() => {
    watch?.watched()
    return metrics.collect({ ofProcess: true })
  })

  function readiness(): string {
    if (state !== 'ready') return state
    if (!mayServe()) return 'not active'
    const loss = db.files.loss()
    if (loss) return LOST[loss.reason]
    try {
      ping.get()
      return state
    } catch {
      return 'database unavailable'
    }
  }

  /** Refuses requests once another server may answer them. */
  function refuseWithoutLease({ url }: Request) {
    if (mayServe() || WITHOUT_DATABASE.test(new URL(url).pathname)) return
    throw unavailable('another server may have taken over, so this one answers nothing')
  }

  /**
   * Refuses requests if the database files were deleted, which SQLite can read until a restart.
   * Checks again only after a loss, so normal requests pay nothing.
   */
  function refuseWithoutDatabase({ url }: Request) {
    if (!db.files.knownLoss() || WITHOUT_DATABASE.test(new URL(url).pathname)) return
    db.files.requireInPlace()
  }

  const routes = new Elysia({ name: 'health', tags: ['operations'] })
    .onRequest(({ request }) => {
      refuseWithoutDatabase(request)
      if (siblings.tenure) refuseWithoutLease(request)
    })
    .get('/healthz', () => alive, {
      detail: { summary: 'Check that the process is alive' },
      response: { 200: Alive },
    })
    .get(
      '/readyz',
      ({ status }) => {
        const answer = readiness()
        return status(answer === 'ready' ? 200 : 503, { status: answer })
      },
      {
        detail: {
          summary: 'Check that it can serve requests; 503 during shutdown or without a database',
        },
        response: { 200: statusLike('ready'), 503: statusLike('draining') },
      },
    )
    .get(
      '/metrics',
      ({ set }) => {
        if (!watch) throw notFound('metrics are off. To turn them on, set [metrics] enabled = true')
        set.headers['content-type'] = 'text/plain; version=0.0.4; charset=utf-8'
        watch.watched()
        return siblings.render(metrics)
      },
      {
        detail: {
          summary: 'Get metrics in the Prometheus text format',
          responses: {
            200: { description: 'Metrics as text.' },
            404: { description: 'Metrics are off.' },
          },
        },
      },
    )

  /** Reports the server as not ready, so that a load balancer sends new requests elsewhere. */
  function drain() {
    state = 'draining'
  }

  /** Reports the server as ready once everything is running, including the due loops. */
  function open() {
    state = 'ready'
  }

  return { routes, open, drain }
}

/** Metrics that belong to no engine: the process and the storage. */
function createOwnMetrics(metrics: Metrics, db: Db) {
  createStorageMetrics(metrics, db)
  return createProcessMetrics(metrics)
}
