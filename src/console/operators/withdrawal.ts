import type { Actor, Audit } from '../../platform/audit/index.ts'
import type { OperatorStore } from './store/index.ts'

/** Within a commit, revokes an operator's invitations, because they could use the links. */
export const createWithdrawal =
  ({ audit, store }: { audit: Audit; store: OperatorStore }) =>
  (actor: Actor, tenantId: string, operatorId: string) => {
    for (const { id, invitedBy } of store.invitations(tenantId)) {
      if (invitedBy !== operatorId) continue
      store.removeInvitation(tenantId, id)
      const object = `invitation:${id}`
      audit.record({ tenantId, actor, action: 'invitation.revoked', object })
    }
  }
