import { sql } from 'drizzle-orm'
import { Elysia, t } from 'elysia'
import type { Db } from '../db/open.ts'
import { notFound } from '../platform/errors.ts'
import type { Metrics } from '../platform/metrics.ts'
import { COMMIT, VERSION } from '../platform/version.ts'

const Status = t.Object({ status: t.String() })

/** For load balancers, orchestrators and Prometheus: no credentials, no secrets. */
export function createHealth(parts: { db: Db; metrics: Metrics; metricsEnabled: boolean }) {
  const { db, metrics, metricsEnabled } = parts
  const ping = db.orm.select({ one: sql`1` }).from(sql`sqlite_schema`).limit(1).prepare()
  let state: 'starting' | 'ready' | 'draining' = 'starting'
  metrics.gauge('build_info', 'Always 1; what is running is in the labels.', () => [
    { labels: { version: VERSION, commit: COMMIT }, value: 1 },
  ])
  metrics.gauge('database_size_bytes', 'Size of the database file.', () => [
    { value: sizeOf(db.file) },
  ])
  metrics.gauge('wal_size_bytes', 'Size of the write-ahead log beside it.', () => [
    { value: sizeOf(`${db.file}-wal`) },
  ])

  function readiness(): string {
    if (state !== 'ready') return state
    try {
      ping.get()
      return state
    } catch {
      return 'database unavailable'
    }
  }

  const routes = new Elysia({ name: 'health', tags: ['operations'] })
    .get('/healthz', () => ({ status: 'alive' }), {
      detail: { summary: 'Is the process alive?' },
      response: { 200: Status },
    })
    .get(
      '/readyz',
      ({ status }) => {
        const answer = readiness()
        return status(answer === 'ready' ? 200 : 503, { status: answer })
      },
      {
        detail: { summary: 'Can it serve? 503 while it shuts down.' },
        response: { 200: Status, 503: Status },
      },
    )
    .get(
      '/metrics',
      ({ set }) => {
        if (!metricsEnabled) throw notFound('metrics are off; set [metrics] enabled = true')
        set.headers['content-type'] = 'text/plain; version=0.0.4; charset=utf-8'
        return metrics.render()
      },
      { detail: { summary: 'Metrics in the text format of Prometheus' } },
    )

  /** From now on not ready, so that a load balancer sends new work elsewhere. */
  function drain() {
    state = 'draining'
  }

  /** Everything runs: due work too. */
  function open() {
    state = 'ready'
  }

  return { routes, open, drain }
}

const sizeOf = (file: string): number => Bun.file(file).size
