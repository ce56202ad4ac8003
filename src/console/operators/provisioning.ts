import type { Db } from '../../db/open.ts'
import type { NewOperator, OperatorAccounts } from '../../engines/gate/operators/accounts.ts'
import type { Actor } from '../../platform/audit/index.ts'
import type { Admins } from './admins.ts'
import { newcomer } from './grantee.ts'
import type { Chosen, Grantees } from './grantees.ts'
import type { Memberships } from './memberships.ts'
import { outranks, type Role } from './rights.ts'
import type { OperatorStore } from './store/index.ts'

/** Rights in the installation and in one tenant. */
interface Rights {
  isAdmin?: boolean
  membership?: { tenantId: string; role: Role } | undefined
}

/** What a change of rights came to; `more` if there is any right that the operator didn't have. */
type Difference = 'none' | 'less' | 'more'

export type Provisioning = ReturnType<typeof createProvisioning>

/** Operators and their rights, as commands and installation keys set them. */
export function createProvisioning(parts: {
  db: Db
  store: OperatorStore
  accounts: Pick<OperatorAccounts, 'create'>
  admins: Admins
  memberships: Memberships
  grantees: Grantees
}) {
  const { db, store, accounts, admins, memberships, grantees } = parts

  /** Creates an operator with an unverified address. Throws `invalid`, and `conflict` if it is taken. */
  const create = (
    actor: Actor,
    { isAdmin, membership, ...account }: Omit<NewOperator, 'isVerified'> & Rights,
  ) =>
    accounts.create(actor, { ...account, isVerified: false }, (operator) => {
      const grantee = newcomer(operator)
      if (membership) memberships.give(actor, membership.tenantId, grantee, membership.role)
      if (isAdmin) admins.add(actor, grantee)
    })

  /**
   * Gives an operator rights, of which only a role can be less than before. An unverified account that gets
   * more loses its credentials and sessions. Throws `conflict` for the last owner.
   */
  async function grant(
    actor: Actor,
    chosen: Chosen,
    { isAdmin = false, membership }: Rights,
  ): Promise<Difference> {
    const before = membership && store.roleIn(membership.tenantId, chosen.id)
    const isMore = membership !== undefined && outranks(membership.role, before)
    const isLess = membership !== undefined && !isMore && membership.role !== before
    const isNewAdmin = isAdmin && !store.isAdmin(chosen.id)
    if (isLess) await memberships.change(actor, membership.tenantId, chosen, membership.role)
    if (!isMore && !isNewAdmin) return isLess ? 'less' : 'none'
    await db.commit(() => {
      const grantee = grantees.secured(actor, chosen)
      if (isMore) memberships.give(actor, membership.tenantId, grantee, membership.role)
      if (isNewAdmin) admins.add(actor, grantee)
    })
    return 'more'
  }

  return { create, grant }
}
