import type { Delivery } from '../../../delivery/index.ts'
import type { TroubledEndpoint } from '../../../delivery/store/glances.ts'
import type { Clockwork } from '../../../engines/clockwork/index.ts'
import type { FailingJob } from '../../../engines/clockwork/store/glances.ts'
import type { Bot, Passepartout } from '../../../engines/passepartout/index.ts'
import type { Environment } from '../../../platform/engines.ts'
import type { Metering, Nearness } from '../../../platform/metering/index.ts'

/** What somebody should see to, by kind: of each as many as there are. */
export interface Troubles {
  endpoints: TroubledEndpoint[]
  webhooks: TroubledEndpoint[]
  jobs: FailingJob[]
  /** Those that cannot be signed in by, though somebody has set them up. */
  bots: Bot[]
  /** Where four fifths of the month or more are used up. */
  usage: Nearness | undefined
}

/** Finds what is wrong in a tenant, where somebody can do something about it. */
export function createAttention(parts: {
  delivery: Pick<Delivery, 'glances'>
  clockwork: Pick<Clockwork, 'glances'>
  passepartout: Pick<Passepartout, 'bots'>
  metering: Pick<Metering, 'nearnessOf'>
}) {
  const { delivery, clockwork, passepartout, metering } = parts

  function of(tenantId: string, environment: Environment): Troubles {
    const nearness = metering.nearnessOf(tenantId)
    return {
      endpoints: delivery.glances.troubled({ tenantId, name: `relay.${environment}` }),
      webhooks: delivery.glances.troubled({ tenantId, name: 'gate.live' }),
      jobs: clockwork.glances.failing(tenantId),
      bots: passepartout.bots.list(tenantId).filter(isTroubled),
      usage: isNearItsEnd(nearness) ? nearness : undefined,
    }
  }

  return { of }
}

/** One without a token was never set up, or was given up on purpose. */
const isTroubled = ({ status, trouble, token }: Bot): boolean =>
  status === 'disabled' ? token !== null : status !== 'not_configured' && trouble !== null

const isNearItsEnd = ({ plan, reached, left_requests: left }: Nearness): boolean =>
  plan !== 'unlimited' && (left === 0 || Math.max(reached.allowance, reached.spend_cap) >= 80)

/** How much of it keeps somebody from being served. */
export const failingIn = ({ endpoints, webhooks, jobs }: Troubles): number =>
  endpoints.length + webhooks.length + jobs.length
