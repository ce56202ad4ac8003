import type { Delivery } from '../../../delivery/index.ts'
import type { FailingEndpoint } from '../../../delivery/store/read-model.ts'
import type { Clockwork } from '../../../engines/clockwork/index.ts'
import type { FailingJob } from '../../../engines/clockwork/store/read-model.ts'
import type { Bot, Passepartout } from '../../../engines/passepartout/index.ts'
import type { Environment } from '../../../platform/engines.ts'
import type { Metering, Nearness } from '../../../platform/metering/index.ts'

/** Problems of a tenant, by kind. */
export interface Issues {
  endpoints: FailingEndpoint[]
  webhooks: FailingEndpoint[]
  jobs: FailingJob[]
  /** Bots that are set up but can't sign users in. */
  bots: Bot[]
  /** Set if 80% of the month's allowance or more is used. */
  usage: Nearness | undefined
}

/** Finds problems of a tenant that its members can fix. */
export function createAlerts(parts: {
  delivery: Pick<Delivery, 'readModel'>
  clockwork: Pick<Clockwork, 'readModel'>
  passepartout: Pick<Passepartout, 'bots'>
  metering: Pick<Metering, 'nearnessOf'>
}) {
  const { delivery, clockwork, passepartout, metering } = parts

  function of(tenantId: string, environment: Environment): Issues {
    const nearness = metering.nearnessOf(tenantId)
    return {
      endpoints: delivery.readModel.failing({ tenantId, name: `relay.${environment}` }),
      webhooks: delivery.readModel.failing({ tenantId, name: 'gate.live' }),
      jobs: clockwork.readModel.failing(tenantId),
      bots: passepartout.bots.list(tenantId).filter(isTroubled),
      usage: isNearItsEnd(nearness) ? nearness : undefined,
    }
  }

  return { of }
}

/** Bots without a token were never set up, or were removed on purpose. */
const isTroubled = ({ status, issue, token }: Bot): boolean =>
  status === 'disabled' ? token !== null : status !== 'not_configured' && issue !== null

const isNearItsEnd = ({ plan, reached, left_requests: left }: Nearness): boolean =>
  plan !== 'unlimited' && (left === 0 || Math.max(reached.allowance, reached.spend_cap) >= 80)

/** Number of failing endpoints, webhooks and jobs. */
export const failingIn = ({ endpoints, webhooks, jobs }: Issues): number =>
  endpoints.length + webhooks.length + jobs.length
