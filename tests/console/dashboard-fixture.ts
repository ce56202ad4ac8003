import { type Answer, bootTestApp, type TestApp, type TestAppOptions } from '../support/app.ts'
import { startTarget } from '../support/target.ts'

export const BY_KEY = '/v1/clockwork'
export const BY_SESSION = '/dashboard/clockwork'

/** The id of no job. */
export const NOBODYS = '01900000-0000-7000-8000-000000000000'

/** A route of clockwork, whatever its prefix. */
export interface Route {
  method: string
  /** Behind the prefix, with `:job_id` where an id goes. */
  path: string
}

export type Fixture = Awaited<ReturnType<typeof bootDashboard>>
export type Tenant = Awaited<ReturnType<TestApp['tenant']>>

/** As the app lists them, so that a new one is covered without being named here. */
export const routesUnder = ({ app }: Pick<TestApp, 'app'>, prefix: string): Route[] =>
  app.routes
    .filter(({ path }) => path.startsWith(`${prefix}/`))
    .map(({ method, path }) => ({ method, path: path.slice(prefix.length) }))

export const nameOf = ({ method, path }: Route): string => `${method} ${path}`

export const hasBody = ({ method }: Route): boolean => method === 'POST' || method === 'PATCH'

/** The application, one target for jobs, and what a route needs to succeed. */
export async function bootDashboard(options: TestAppOptions = {}) {
  const app = await bootTestApp(options)
  const { url, stop } = startTarget()
  const job = { name: 'report', schedule: '0 3 * * *', url }
  const delayed = { name: 'reminder', run_at: '2026-03-01T23:00:00.000Z', url }
  const bodies: Record<string, unknown> = {
    'POST /jobs': job,
    'POST /jobs/preview': { schedule: '0 3 * * *', url },
    'PATCH /jobs/:job_id': { name: 'renamed' },
    'POST /delayed': delayed,
  }

  /** A new job of the tenant for the route to act on; by its key, whoever calls. */
  async function jobFor({ path }: Route, { api }: Tenant): Promise<string> {
    const isDelayed = path.startsWith('/delayed')
    const kind = isDelayed ? 'delayed' : 'jobs'
    return (await api.post(`${BY_KEY}/${kind}`, isDelayed ? delayed : job)).body.id
  }

  /** A route in one of the modes, with what makes it succeed. */
  function send(
    prefix: string,
    route: Route,
    { headers, id = NOBODYS, body = bodyOf(route), type = 'application/json' }: Sent,
  ): Promise<Answer> {
    const { method } = route
    const sends = hasBody(route)
    return app.raw(prefix + route.path.replace(':job_id', id), {
      method,
      headers: { ...headers, ...(sends && { 'content-type': type }) },
      ...(sends && { body }),
    })
  }

  const bodyOf = (route: Route): string => JSON.stringify(bodies[nameOf(route)] ?? {})

  /** All that is stored of jobs. */
  const stored = () =>
    ['cron_jobs', 'delayed_jobs', 'runs'].map((table) =>
      app.db.client.query(`select * from ${table}`).all(),
    )

  async function end() {
    await stop()
    await app.stop()
  }

  return {
    app,
    job,
    delayed,
    routes: routesUnder(app, BY_KEY),
    jobFor,
    send,
    stored,
    end,
    [Symbol.asyncDispose]: end,
  }
}

interface Sent {
  /** The credential, and what else the caller says. */
  headers: Record<string, string>
  id?: string
  body?: string
  type?: string
}
