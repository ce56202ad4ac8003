import type { Db } from '../../../db/open.ts'
import { defaultScopeOf } from '../default-scope.ts'
import type { Grantee } from '../grantee.ts'
import type { Role } from '../rights.ts'
import { createAdminStore } from './admins.ts'
import { createInvitationStore } from './invitations.ts'
import { createLinkStore } from './links.ts'
import { createMembershipStore } from './memberships.ts'
import { createRecipientStore } from './recipients.ts'
import { createScopeStore } from './scopes.ts'

export type OperatorStore = ReturnType<typeof createOperatorStore>

/** All SQL about operators. */
export function createOperatorStore(db: Db) {
  const memberships = createMembershipStore(db)
  const admins = createAdminStore(db)
  const scopes = createScopeStore(db)

  /** Settles default scopes before memberships change, so that no tab moves to another tenant. */
  function settle(operatorId: string) {
    const scope = defaultScopeOf(memberships.membershipsOf(operatorId), admins.isAdmin(operatorId))
    if (scope !== undefined) scopes.settleScopes(operatorId, scope)
  }

  return {
    ...memberships,
    ...admins,
    ...scopes,
    ...createInvitationStore(db),
    ...createLinkStore(db),
    ...createRecipientStore(db),
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
