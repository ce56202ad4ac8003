import type { Actor } from '../platform/audit/index.ts'
import type { Caller } from '../platform/caller.ts'
import type { Environment } from '../platform/engines.ts'
import type { Tenant } from '../platform/tenants.ts'

/** The caller for a tenant on behalf of the installation, for which nothing is charged. */
export const callerFor = (
  { id, status, plan, spend_cap_cents }: Pick<Tenant, 'id' | 'status' | 'plan' | 'spend_cap_cents'>,
  { actor, environment }: { actor: Actor; environment: Environment },
): Caller => ({
  tenantId: id,
  tenantStatus: status,
  plan,
  spendCapCents: spend_cap_cents,
  engine: 'manifest',
  environment,
  actor,
})
