import type { Delivery } from '../../../delivery/index.ts'
import type { Clockwork } from '../../../engines/clockwork/index.ts'
import type { Passepartout } from '../../../engines/passepartout/index.ts'
import type { Relay } from '../../../engines/relay/index.ts'
import type { Caller } from '../../../platform/caller.ts'
import type { Clock } from '../../../platform/clock.ts'
import type { Keys } from '../../../platform/keys.ts'
import type { Metering } from '../../../platform/metering/index.ts'
import type { Layout } from '../../layout.ts'
import type { Part } from '../../live/part.ts'
import type { tenantScopeOf } from '../../operators/current-operator.ts'
import { may } from '../../operators/rights.ts'
import { createAlerts } from './alerts.ts'
import { createDayCounts } from './day-counts.ts'
import { createFeed } from './feed.ts'
import { OVERVIEW_PARTS, type OverviewProps } from './page.tsx'
import { upcomingRuns } from './upcoming-runs.ts'

/** Interval for the expensive queries while the page is open. */
const SLOW_MS = 5000

/** Tenant and environment of the page. */
export interface OverviewRequest {
  caller: Caller
  scope: ReturnType<typeof tenantScopeOf>
}

export type Overview = ReturnType<typeof createOverview>

/** Content of a tenant's overview, initially and as live updates. */
export function createOverview(parts: {
  layout: Layout
  clock: Clock
  keys: Keys
  metering: Metering
  delivery: Delivery
  clockwork: Clockwork
  passepartout: Passepartout
  relay: Relay
  baseUrl: () => string
}) {
  const { layout, clock, keys, delivery, clockwork, baseUrl } = parts
  const counts = createDayCounts(parts)
  const alerts = createAlerts(parts)
  const feed = createFeed(parts)

  function slow({ caller, scope: { tenantId } }: OverviewRequest) {
    const environment = caller.environment ?? 'live'
    const issues = alerts.of(tenantId, environment)
    return {
      issues,
      day: counts.of(tenantId, environment),
      jobs: clockwork.readModel.tally(tenantId),
      hasKey: keys.hasLive(tenantId),
      hasEndpoint:
        delivery.readModel.addresses({ tenantId, name: `relay.${environment}` }).length > 0,
    }
  }

  function propsOf(overviewRequest: OverviewRequest, known = slow(overviewRequest)): OverviewProps {
    const { caller, scope } = overviewRequest
    const { issues, day, jobs, hasKey, hasEndpoint } = known
    const now = clock.now()
    const upcoming = upcomingRuns(clockwork, scope.tenantId, now)
    const activity = feed.of(caller)
    return {
      base: layout.base(),
      apiUrl: baseUrl(),
      tenantName: scope.name,
      hasKey,
      mayMakeKeys: may(scope.role, 'keys'),
      mayChange: may(scope.role, 'change'),
      isFresh:
        activity.length === 0 &&
        upcoming.length === 0 &&
        jobs.active + jobs.paused === 0 &&
        !hasEndpoint,
      today: { ...day, jobs },
      issues,
      upcoming,
      activity,
      now,
    }
  }

  /** Live parts of the page, with the data that each depends on. */
  function partsOf(props: OverviewProps): Part[] {
    const { base: _, apiUrl: __, now: ___, upcoming, activity, ...top } = props
    const facts = {
      'overview-head': top,
      'overview-top': top,
      'overview-next': upcoming,
      'overview-feed': activity,
    } satisfies Record<keyof typeof OVERVIEW_PARTS, unknown>
    return Object.entries(OVERVIEW_PARTS).map(([target, draw]) => ({
      target,
      facts: facts[target as keyof typeof OVERVIEW_PARTS],
      draw: () => draw(props),
    }))
  }

  /** Polled for live updates. */
  function render(overviewRequest: OverviewRequest): () => Part[] {
    let known = slow(overviewRequest)
    let knownAt = clock.monotonic()
    return () => {
      if (clock.monotonic() - knownAt >= SLOW_MS) {
        known = slow(overviewRequest)
        knownAt = clock.monotonic()
      }
      return partsOf(propsOf(overviewRequest, known))
    }
  }

  return { propsOf, partsOf, render }
}
