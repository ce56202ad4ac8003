import type { Actor } from '../../../platform/audit/index.ts'
import type { Caller } from '../../../platform/caller.ts'
import { HOUSE_ID } from '../../../platform/house.ts'

/** Whoever acts on operators, as what is done for tenants' servers knows its callers: nothing is counted. */
export const houseCaller = (actor: Actor): Caller => ({
  tenantId: HOUSE_ID,
  tenantStatus: 'active',
  plan: 'unlimited',
  spendCapCents: null,
  engine: 'gate',
  environment: null,
  actor,
})
