import type { Caller } from '../platform/caller.ts'
import type { Engine, Environment } from '../platform/engines.ts'
import type { Tenants } from '../platform/tenants.ts'
import type { TenantVisit } from './kit.ts'
import { may } from './operators/rights.ts'

export type CallerOf = ReturnType<typeof createCallers>

/**
 * Whoever is at a page, as engines know their callers. Nothing of it is counted; what makes something
 * new is refused to a tenant that may make none, all the same.
 */
export const createCallers =
  ({ tenants }: { tenants: Tenants }) =>
  ({ tenant, actor }: TenantVisit, engine: Engine, environment: Environment | null): Caller => {
    const { status, plan, spend_cap_cents: spendCapCents } = tenants.find(tenant.tenantId)
    return {
      tenantId: tenant.tenantId,
      tenantStatus: status,
      plan,
      spendCapCents,
      engine,
      environment,
      actor,
      mayOnlyLook: !may(tenant.role, 'change'),
    }
  }
