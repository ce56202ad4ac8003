import type { Actor } from '../../../platform/audit/index.ts'
import type { Caller } from '../../../platform/caller.ts'
import { HOUSE_ID } from '../../../platform/house.ts'

/**
 * The caller for services that act on operators on behalf of an actor. Nothing is counted for it.
 */
export const houseCaller = (actor: Actor): Caller => ({
  tenantId: HOUSE_ID,
  tenantStatus: 'active',
  plan: 'unlimited',
  spendCapCents: null,
  engine: 'gate',
  environment: null,
  actor,
})
