import type { Actor } from '../../../platform/audit/index.ts'
import type { Caller } from '../../../platform/caller.ts'
import { SYSTEM_TENANT_ID } from '../../../platform/system-tenant.ts'

/** The caller for services that act on operators for an actor. Nothing is counted for it. */
export const systemTenantCaller = (actor: Actor): Caller => ({
  tenantId: SYSTEM_TENANT_ID,
  tenantStatus: 'active',
  plan: 'unlimited',
  spendCapCents: null,
  engine: 'gate',
  environment: null,
  actor,
})
