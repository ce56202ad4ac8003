import type { Db } from '../../../db/open.ts'
import { defaultPlaceOf } from '../default-place.ts'
import type { Grantee } from '../grantee.ts'
import type { Role } from '../rights.ts'
import { createAdminStore } from './admins.ts'
import { createInvitationStore } from './invitations.ts'
import { createLinkStore } from './links.ts'
import { createMembershipStore } from './memberships.ts'
import { createPlaceStore } from './places.ts'

export type OperatorStore = ReturnType<typeof createOperatorStore>

/** All SQL about operators. */
export function createOperatorStore(db: Db) {
  const memberships = createMembershipStore(db)
  const admins = createAdminStore(db)
  const places = createPlaceStore(db)

  /**
   * Sessions without a chosen place act in the default one, which depends on the memberships: before
   * these change, the sessions are fixed where they are, so that no tab moves to another tenant.
   */
  function settle(operatorId: string) {
    const place = defaultPlaceOf(memberships.membershipsOf(operatorId), admins.isAdmin(operatorId))
    if (place !== undefined) places.settlePlaces(operatorId, place)
  }

  return {
    ...memberships,
    ...admins,
    ...places,
    ...createInvitationStore(db),
    ...createLinkStore(db),
    put(tenantId: string, operatorId: Grantee, role: Role, now: number) {
      settle(operatorId)
      memberships.put(tenantId, operatorId, role, now)
    },
    remove(tenantId: string, operatorId: string) {
      settle(operatorId)
      memberships.remove(tenantId, operatorId)
    },
  }
}
