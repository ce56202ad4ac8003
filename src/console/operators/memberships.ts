import type { Db } from '../../db/open.ts'
import type { Actor, Audit } from '../../platform/audit/index.ts'
import type { Clock } from '../../platform/clock.ts'
import { conflict, fail, notFound } from '../../platform/errors.ts'
import type { Grantee } from './grantee.ts'
import type { Chosen, Grantees } from './grantees.ts'
import { outranks, type Role } from './rights.ts'
import type { OperatorStore } from './store/index.ts'
import type { MemberRow, MembershipRow } from './store/memberships.ts'
import { createWithdrawal } from './withdrawal.ts'

export type { MemberRow, MembershipRow }
export type Memberships = ReturnType<typeof createMemberships>

/** Memberships in tenants. The last owner of a tenant can't leave or change role. */
export function createMemberships(parts: {
  db: Db
  clock: Clock
  audit: Audit
  store: OperatorStore
  grantees: Grantees
}) {
  const { db, clock, audit, store, grantees } = parts
  const withdrawInvitations = createWithdrawal(parts)

  /** Within a commit: a role for a new member, or one that allows a member more; no one gets less. */
  function give(actor: Actor, tenantId: string, grantee: Grantee, role: Role) {
    const before = store.roleIn(tenantId, grantee)
    if (!outranks(role, before)) return
    store.put(tenantId, grantee, role, clock.now())
    if (before === undefined) record(actor, 'member.added', tenantId, grantee, { role })
    else record(actor, 'member.changed', tenantId, grantee, { role, before })
  }

  /** Changes a role. Throws `not_found` for non-members, and `conflict` for the last owner or for a higher
   * role of an unverified account.
   */
  const change = (actor: Actor, tenantId: string, chosen: Chosen, role: Role): Promise<void> =>
    db.commitFor(tenantId, () => {
      const { id: operatorId } = chosen
      const before = existing(tenantId, operatorId)
      if (before === role) return
      if (outranks(role, before)) return give(actor, tenantId, grantees.verified(chosen), role)
      if (before === 'owner') giveUpOwnership(actor, tenantId, operatorId)
      store.lower(tenantId, operatorId, role)
      record(actor, 'member.changed', tenantId, operatorId, { role, before })
    })

  const remove = (actor: Actor, tenantId: string, operatorId: string): Promise<void> =>
    db.commitFor(tenantId, () => {
      if (existing(tenantId, operatorId) === 'owner') giveUpOwnership(actor, tenantId, operatorId)
      store.remove(tenantId, operatorId)
      record(actor, 'member.removed', tenantId, operatorId)
    })

  const existing = (tenantId: string, operatorId: string): Role =>
    store.roleIn(tenantId, operatorId) ?? fail(notFound('member not found'))

  function giveUpOwnership(actor: Actor, tenantId: string, operatorId: string) {
    if (!store.hasOtherOwner(tenantId, operatorId))
      throw conflict('this is the only owner who can sign in. Add another owner first')
    withdrawInvitations(actor, tenantId, operatorId)
  }

  /** Members of a tenant in the order of joining. */
  const list = (tenantId: string): MemberRow[] => store.members(tenantId)

  /** Memberships of an operator, ordered by tenant name. */
  const of = (operatorId: string): MembershipRow[] => store.membershipsOf(operatorId)

  const record = (
    actor: Actor,
    action: string,
    tenantId: string,
    operatorId: string,
    detail: Record<string, unknown> = {},
  ) => audit.record({ tenantId, actor, action, object: `operator:${operatorId}`, detail })

  return { give, change, remove, list, of }
}
