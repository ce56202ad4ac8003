import { Elysia } from 'elysia'
import {
  FIRST_JOB_PARTS,
  type FirstJob,
  FirstJobPage,
  FirstKeyPage,
} from '../../../views/console/pages/first-job.tsx'
import { url } from '../../../views/console/url.ts'
import type { Clockwork } from '../../engines/clockwork/index.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Keys } from '../../platform/keys.ts'
import type { Outbound } from '../../platform/outbound/index.ts'
import type { Layout } from '../layout.ts'
import { themeOf } from '../layout.ts'
import type { LiveAnswers } from '../live/answers.ts'
import { type Part, stateIdOf } from '../live/part.ts'
import type { ConsoleMiddleware, TenantContext } from '../middleware.ts'
import { may } from '../operators/rights.ts'
import { pageScopeOf } from '../scope.ts'

const KEY_PATH = '/console/first-key'
const JOB_PATH = '/console/first-job'
const LIVE = '/console/live/first-job'

type Context = TenantContext & { request: Request }

/** Last steps of the set-up: an API key, and a command whose job appears on the page. */
export function firstJobPages(parts: {
  middleware: ConsoleMiddleware
  layout: Layout
  clock: Clock
  keys: Keys
  outbound: Pick<Outbound, 'checkUrl'>
  clockwork: Pick<Clockwork, 'queries'>
  liveAnswers: LiveAnswers
  baseUrl: () => string
}) {
  const { middleware, layout, clock, keys, outbound, clockwork, liveAnswers, baseUrl } = parts

  const keyPage = ({ request, operator }: Context): Response =>
    layout.html(
      FirstKeyPage({
        base: layout.base(),
        theme: themeOf(request),
        action: url(layout.base(), KEY_PATH),
        laterHref: url(layout.base(), '/console'),
      }),
      200,
      pageScopeOf(operator, request),
    )

  /** Shows the key in the response to the form, because it is not stored. */
  async function makeKey(context: Context): Promise<Response> {
    const { tenantId } = context.tenant
    const { key } = await keys.issue(context.actor, { tenantId, engine: 'clockwork' })
    return jobPage(context, key)
  }

  function jobPage({ request, operator, tenant }: Context, key?: string): Response {
    const base = layout.base()
    const firstJob = firstJobOf(tenant.tenantId)
    const shownId = stateIdOf(partsOf(firstJob))
    return layout.html(
      FirstJobPage({
        base,
        theme: themeOf(request),
        key,
        apiUrl: baseUrl(),
        target: target(),
        firstJob: firstJob,
        live: { href: url(base, LIVE, { shown: shownId }), shownId },
        againHref: url(base, JOB_PATH),
        keyHref: may(tenant.role, 'keys') ? url(base, KEY_PATH) : undefined,
      }),
      200,
      pageScopeOf(operator, request),
    )
  }

  /** URL for the first job: this installation, if jobs can reach it. */
  function target(): string {
    const own = `${baseUrl()}/healthz`
    try {
      outbound.checkUrl(own)
      return own
    } catch {
      return 'https://example.com'
    }
  }

  function firstJobOf(tenantId: string): FirstJob {
    const now = clock.now()
    const [job] = clockwork.queries.jobs(tenantId, { limit: 1 })
    const [attempt] = job ? clockwork.queries.attempts(tenantId, job.id, 1) : []
    const run = job && attempt && clockwork.queries.attempt(tenantId, job.id, attempt.id)
    return { base: layout.base(), job, run, now }
  }

  function partsOf(firstJob: FirstJob): Part[] {
    const { base: _, now: __, ...facts } = firstJob
    return Object.entries(FIRST_JOB_PARTS).map(([target, draw]) => ({
      target,
      facts,
      draw: () => draw(firstJob),
    }))
  }

  const live = (context: Context): Response =>
    liveAnswers(context, {
      name: 'first job',
      render: () => partsOf(firstJobOf(context.tenant.tenantId)),
    })

  return new Elysia({ name: 'first job pages', detail: { hide: true } })
    .use(middleware)
    .get(KEY_PATH, keyPage, { right: 'keys' })
    .post(KEY_PATH, makeKey, { right: 'keys' })
    .get(JOB_PATH, (context) => jobPage(context), { right: 'read' })
    .get(LIVE, live, { right: 'read' })
}
