import { Elysia } from 'elysia'
import {
  InstallationPage,
  InstallationTroubles,
  NowherePage,
  UnverifiedPage,
} from '../../../../views/console/pages/overview/installation.tsx'
import { OverviewPage } from '../../../../views/console/pages/overview/page.tsx'
import { url } from '../../../../views/console/url.ts'
import type { Clock } from '../../../platform/clock.ts'
import type { Tenants } from '../../../platform/tenants.ts'
import type { CallerOf } from '../../callers.ts'
import type { Frames } from '../../frame.ts'
import { createInstanceHealth } from '../../instance-health.ts'
import type { ConsoleKit, OperatorVisit, TenantVisit } from '../../kit.ts'
import type { LiveAnswers } from '../../live/answers.ts'
import { stateIdOf } from '../../live/part.ts'
import type { Operators } from '../../operators/index.ts'
import { environmentOf } from '../../scope.ts'
import { createOverview, type Seen } from './overview.ts'

const LIVE = '/console/live/overview'

/** Overview of the current tenant or of the installation. */
export function homePage(
  parts: {
    kit: ConsoleKit
    frames: Frames
    callerOf: CallerOf
    clock: Clock
    tenants: Tenants
    operators: Pick<Operators, 'signUp'>
    liveAnswers: LiveAnswers
    name: string
  } & Parameters<typeof createOverview>[0] &
    Parameters<typeof createInstanceHealth>[0],
) {
  const { kit, frames, callerOf, clock, tenants, operators, liveAnswers, name } = parts
  const overview = createOverview(parts)
  const health = createInstanceHealth(parts)

  function home(visit: OperatorVisit & { request: Request }): Response {
    const { visitor, request } = visit
    const { place, memberships } = visitor
    const base = frames.base()
    const common = { request, visitor, title: 'Overview', active: 'overview' as const }
    if (place?.kind === 'tenant') return ofTenant({ ...visit, tenant: place })
    const children = place
      ? InstallationPage({ base, name, health: health.look(), tenants: tenants.counts() })
      : operators.signUp.isWaiting(visitor.id)
        ? UnverifiedPage({ base, email: visitor.email })
        : NowherePage({ base, hasOthers: memberships.length > 0 })
    return frames.page({ ...common, children })
  }

  function ofTenant(visit: TenantVisit & { request: Request }): Response {
    const { visitor, request } = visit
    const base = frames.base()
    const glance = overview.glance(seenBy(visit))
    const shownId = stateIdOf(overview.partsOf(glance))
    const troubles = visitor.isAdmin ? health.look().troubles : []
    return frames.page({
      request,
      visitor,
      title: 'Overview',
      active: 'overview',
      hasEnvironments: true,
      children: OverviewPage({
        glance,
        live: { href: url(base, LIVE, { shown: shownId }), shownId },
        installation: InstallationTroubles({ base, troubles, now: clock.now() }),
      }),
    })
  }

  const seenBy = (visit: TenantVisit & { request: Request }): Seen => ({
    caller: callerOf(visit, 'relay', environmentOf(visit.request)),
    place: visit.tenant,
  })

  function live(visit: TenantVisit & { request: Request }): Response {
    const seen = seenBy(visit)
    const { environment } = seen.caller
    const name = `overview ${environment} ${visit.tenant.role}`
    return liveAnswers(visit, { name, look: overview.look(seen) })
  }

  return new Elysia({ name: 'home page', detail: { hide: true } })
    .use(kit)
    .get('/console', home, { operator: true })
    .get(LIVE, live, { right: 'read' })
}
