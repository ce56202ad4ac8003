import type { Db } from '../../db/open.ts'
import type { AccountState } from '../../engines/gate/operators/account-state.ts'
import type { Operator, OperatorList } from '../../engines/gate/operators/list.ts'
import type { Actor, Audit } from '../../platform/audit/index.ts'
import type { Clock } from '../../platform/clock.ts'
import { createCursor, type Page, page as pageOf } from '../../platform/cursor.ts'
import { conflict, fail, notFound } from '../../platform/errors.ts'
import type { Grantee } from './grantee.ts'
import type { Chosen, Grantees } from './grantees.ts'
import type { OperatorStore } from './store/index.ts'
import { createWithdrawal } from './withdrawal.ts'

export type Admins = ReturnType<typeof createAdmins>

interface AdminQuery {
  search?: string | undefined
  cursor?: string | undefined
  limit: number
}

const cursors = createCursor('admins', 'string')

/** There is always an admin who can sign in, and admins can't deactivate themselves. */
export function createAdmins(parts: {
  db: Db
  audit: Audit
  clock: Clock
  store: OperatorStore
  grantees: Grantees
  gateOperators: { operatorList: OperatorList; accountState: AccountState }
}) {
  const { db, audit, clock, store, grantees } = parts
  const { operatorList, accountState } = parts.gateOperators
  const withdrawInvitations = createWithdrawal(parts)

  /** An operator; throws `not_found` for any other ID, including users of tenants. */
  const existing = (id: string): Operator =>
    operatorList.find(id) ?? fail(notFound('operator not found'))

  /** Makes an operator an admin. An unverified account loses its credentials and sessions. */
  const give = (actor: Actor, chosen: Chosen): Promise<void> =>
    db.commit(() => {
      if (existing(chosen.id).state !== 'active')
        throw conflict('the account of this operator is deactivated. Reactivate it first')
      if (!store.isAdmin(chosen.id)) add(actor, grantees.secured(actor, chosen))
    })

  /** Within a commit. */
  function add(actor: Actor, id: Grantee) {
    store.addAdmin(id, clock.now())
    record(actor, 'admin.added', id)
  }

  const take = (actor: Actor, id: string): Promise<void> =>
    db.commit(() => {
      existing(id)
      if (!store.isAdmin(id)) return
      refuseLast(id)
      store.removeAdmin(id)
      record(actor, 'admin.removed', id)
    })

  /** Ends all sessions and sign-in links immediately; memberships are kept. */
  const deactivate = (actor: Actor, id: string): Promise<void> =>
    db.commit(() => {
      existing(id)
      if (actor.kind === 'operator' && actor.id === id)
        throw conflict('you cannot deactivate your own account. Ask another admin')
      refuseLast(id)
      store.removeSignInLinks(id)
      for (const { tenantId } of store.membershipsOf(id)) withdrawInvitations(actor, tenantId, id)
      accountState.setState(actor, id, 'inactive')
    })

  /** Reactivates an operator. An unverified account loses its credentials and sessions. */
  const reactivate = (actor: Actor, id: string): Promise<void> =>
    db.commit(() => {
      const operator = existing(id)
      if (operator.state === 'active') return
      accountState.setState(actor, grantees.secured(actor, operator), 'active')
    })

  /** Ends all sessions and sign-in links, which someone else might have. */
  const signOut = (actor: Actor, id: string): Promise<void> =>
    db.commit(() => {
      accountState.signOut(actor, existing(id).id)
      store.removeSignInLinks(id)
    })

  /** Admins, newest first, with addresses that begin with `search`. */
  function page({ search, cursor, limit }: AdminQuery): Page<Operator> {
    const after = cursors.positionOf(cursor)
    const found = pageOf(store.admins({ search, after, limit: limit + 1 }), limit, ({ id }) =>
      cursors.encode(id),
    )
    return { ...found, data: found.data.map(operatorList.of) }
  }

  function refuseLast(id: string) {
    if (isLast(id))
      throw conflict(
        'this is the only admin of the installation. Make another operator an admin first',
      )
  }

  /** Whether no other active operator is an admin. */
  const isLast = (id: string): boolean => store.isAdmin(id) && !store.hasOtherAdmin(id)

  const record = (actor: Actor, action: string, id: string) =>
    audit.recordForOperators({ actor, action, object: `operator:${id}` })

  return {
    existing,
    add,
    give,
    take,
    deactivate,
    reactivate,
    signOut,
    isLast,
    isAdmin: store.isAdmin,
    page,
    count: store.countAdmins,
  }
}
