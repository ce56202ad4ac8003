import { Elysia } from 'elysia'
import { url } from '../../../../views/console/url.ts'
import type { Clock } from '../../../platform/clock.ts'
import type { Tenants } from '../../../platform/tenants.ts'
import type { CallerOf } from '../../callers.ts'
import { createInstanceHealth } from '../../instance-health.ts'
import type { Layout } from '../../layout.ts'
import type { LiveAnswers } from '../../live/answers.ts'
import { stateIdOf } from '../../live/part.ts'
import type { ConsoleMiddleware, OperatorContext, TenantContext } from '../../middleware.ts'
import type { Operators } from '../../operators/index.ts'
import { environmentOf } from '../../scope.ts'
import {
  InstallationIssues,
  InstallationPage,
  NoTenantPage,
  UnverifiedPage,
} from './installation.tsx'
import { createOverview, type OverviewRequest } from './overview.ts'
import { OverviewPage } from './page.tsx'

const LIVE = '/console/live/overview'

/** Overview of the current tenant or of the installation. */
export function homePage(
  parts: {
    middleware: ConsoleMiddleware
    layout: Layout
    callerOf: CallerOf
    clock: Clock
    tenants: Tenants
    operators: Pick<Operators, 'signUp'>
    liveAnswers: LiveAnswers
    name: string
  } & Parameters<typeof createOverview>[0] &
    Parameters<typeof createInstanceHealth>[0],
) {
  const { middleware, layout, callerOf, clock, tenants, operators, liveAnswers, name } = parts
  const overview = createOverview(parts)
  const health = createInstanceHealth(parts)

  function home(context: OperatorContext & { request: Request }): Response {
    const { operator, request } = context
    const { scope, memberships } = operator
    const base = layout.base()
    const common = { request, operator, title: 'Overview', active: 'overview' as const }
    if (scope?.kind === 'tenant') return ofTenant({ ...context, tenant: scope })
    const children = scope
      ? InstallationPage({ base, name, health: health.read(), tenants: tenants.counts() })
      : operators.signUp.isWaiting(operator.id)
        ? UnverifiedPage({ base, email: operator.email })
        : NoTenantPage({ base, hasOthers: memberships.length > 0 })
    return layout.page({ ...common, children })
  }

  function ofTenant(context: TenantContext & { request: Request }): Response {
    const { operator, request } = context
    const base = layout.base()
    const props = overview.propsOf(overviewRequestOf(context))
    const shownId = stateIdOf(overview.partsOf(props))
    const issues = operator.isAdmin ? health.read().issues : []
    return layout.page({
      request,
      operator,
      title: 'Overview',
      active: 'overview',
      hasEnvironments: true,
      children: OverviewPage({
        overview: props,
        live: { href: url(base, LIVE, { shown: shownId }), shownId },
        installation: InstallationIssues({ base, issues, now: clock.now() }),
      }),
    })
  }

  const overviewRequestOf = (context: TenantContext & { request: Request }): OverviewRequest => ({
    caller: callerOf(context, 'relay', environmentOf(context.request)),
    scope: context.tenant,
  })

  function live(context: TenantContext & { request: Request }): Response {
    const overviewRequest = overviewRequestOf(context)
    const { environment } = overviewRequest.caller
    const name = `overview ${environment} ${context.tenant.role}`
    return liveAnswers(context, { name, render: overview.render(overviewRequest) })
  }

  return new Elysia({ name: 'home page', detail: { hide: true } })
    .use(middleware)
    .get('/console', home, { operator: true })
    .get(LIVE, live, { right: 'read' })
}
