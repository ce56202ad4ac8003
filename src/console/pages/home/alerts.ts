import type { Delivery } from '../../../delivery/index.ts'
import type { Clockwork } from '../../../engines/clockwork/index.ts'
import type { Bot, Passepartout } from '../../../engines/passepartout/index.ts'
import type { Environment } from '../../../platform/engines.ts'
import type { Metering, Nearness } from '../../../platform/metering/index.ts'
import type { TenantIssues } from './alerts-view.tsx'

/** Finds problems of a tenant that its members can fix. */
export function createAlerts(parts: {
  delivery: Pick<Delivery, 'readModel'>
  clockwork: Pick<Clockwork, 'readModel'>
  passepartout: Pick<Passepartout, 'bots'>
  metering: Pick<Metering, 'nearnessOf'>
}) {
  const { delivery, clockwork, passepartout, metering } = parts

  function of(tenantId: string, environment: Environment): TenantIssues {
    const nearness = metering.nearnessOf(tenantId)
    return {
      endpoints: delivery.readModel.failing({ tenantId, name: `relay.${environment}` }),
      webhooks: delivery.readModel.failing({ tenantId, name: 'gate.live' }),
      jobs: clockwork.readModel.failing(tenantId),
      bots: passepartout.bots.list(tenantId).filter(needsAttention),
      usage: isNearLimit(nearness) ? nearness : undefined,
    }
  }

  return { of }
}

/** Bots without a token were never set up, or were removed on purpose. */
const needsAttention = ({ status, issue, token }: Bot): boolean =>
  status === 'disabled' ? token !== null : status !== 'not_configured' && issue !== null

const isNearLimit = ({ plan, reached, left_requests: left }: Nearness): boolean =>
  plan !== 'unlimited' && (left === 0 || Math.max(reached.allowance, reached.spend_cap) >= 80)
