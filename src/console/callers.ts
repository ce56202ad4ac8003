import type { Caller } from '../platform/caller.ts'
import type { Engine, Environment } from '../platform/engines.ts'
import type { Tenants } from '../platform/tenants.ts'
import type { TenantContext } from './middleware.ts'
import { may } from './operators/rights.ts'

export type CallerOf = ReturnType<typeof createCallers>

/** Caller for console requests, which aren't metered; a suspended tenant can't create anything. */
export const createCallers =
  ({ tenants }: { tenants: Tenants }) =>
  ({ tenant, actor }: TenantContext, engine: Engine, environment: Environment | null): Caller => {
    const { status, plan, spend_cap_cents: spendCapCents } = tenants.find(tenant.tenantId)
    return {
      tenantId: tenant.tenantId,
      tenantStatus: status,
      plan,
      spendCapCents,
      engine,
      environment,
      actor,
      isReadOnly: !may(tenant.role, 'change'),
    }
  }
