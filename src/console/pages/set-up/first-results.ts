import { isTestReceiver } from '../../../platform/test-receiver/index.ts'
import type { PageContext } from '../../page.tsx'
import type { Goal } from './goal-words.ts'

/** Most jobs that are searched for a first result. */
const MAX_JOBS = 50

/** Whether a tenant has reached each goal once, as its data shows. */
const REACHED: Readonly<Record<Goal, (context: PageContext) => boolean>> = {
  users: ({ gate, caller }) =>
    gate.identities.list(caller('gate', 'live'), { limit: 1 }).data.length > 0,
  jobs: ({ clockwork, tenantId }) =>
    clockwork.queries
      .jobs(tenantId, { limit: MAX_JOBS })
      .data.some(({ lastStatus }) => lastStatus === 'success'),
  webhooks: ({ relay, caller }) =>
    relay.deliveries.list(caller('relay', 'live'), { limit: 1, status: 'succeeded' }).data.length >
    0,
  'messenger-login': ({ passepartout, tenantId }) =>
    passepartout.queries.list({ tenantId, environment: 'test' }, { state: 'approved', limit: 1 })
      .data.length > 0,
}

export const isReached = (context: PageContext, goal: Goal): boolean => REACHED[goal](context)

/** Whether a tenant uses each goal for itself, and not only to try it out. */
const IN_USE: Readonly<Record<Goal, (context: PageContext) => boolean>> = {
  users: ({ keys, tenantId }) =>
    keys
      .list(tenantId)
      .some(({ engines, last_used_at: lastUse }) => engines.includes('gate') && lastUse !== null),
  jobs: ({ clockwork, tenantId }) =>
    clockwork.queries
      .jobs(tenantId, { limit: MAX_JOBS })
      .data.some(({ url }) => !isTestReceiver(url)),
  webhooks: ({ delivery, tenantId }) =>
    delivery.queries
      .addresses({ tenantId, name: 'relay.live' })
      .some(({ url }) => !isTestReceiver(url)),
  'messenger-login': ({ passepartout, tenantId }) =>
    passepartout.bots
      .list(tenantId)
      .some(({ environment, enabled }) => environment === 'live' && enabled),
}

export const isInUse = (context: PageContext, goal: Goal): boolean => IN_USE[goal](context)

/** The chosen goal to continue with after another one. */
export function nextGoalAfter(context: PageContext, goal: Goal): Goal | undefined {
  const { goals = [] } = context.checklists.of(context.tenantId) ?? {}
  return goals.find((other) => other !== goal && !isReached(context, other))
}
