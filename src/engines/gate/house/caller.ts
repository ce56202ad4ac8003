import type { Actor } from '../../../platform/audit/index.ts'
import { HOUSE_ID } from '../../../platform/house.ts'
import type { Caller } from '../../../platform/keys.ts'

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
