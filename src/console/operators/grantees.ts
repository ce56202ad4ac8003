import type { AccountState } from '../../engines/gate/operators/account-state.ts'
import type { Operator, OperatorList } from '../../engines/gate/operators/list.ts'
import type { Actor, Audit } from '../../platform/audit/index.ts'
import { conflict, fail, notFound } from '../../platform/errors.ts'
import type { Grantee } from './grantee.ts'
import type { OperatorStore } from './store/index.ts'
import { createWithdrawal } from './withdrawal.ts'

/** An operator as the one who grants has chosen them. */
export type Chosen = Pick<Operator, 'id' | 'email'> & {
  /** When they did; undefined for just now. */
  at?: number
}

export type Grantees = ReturnType<typeof createGrantees>

/**
 * The operators who can be given a right. People choose an operator by email address, and anyone can have
 * made an account by the address of another: as long as it is not verified, its password, second
 * factor and sessions may be a stranger's. All of this runs within the commit of the grant.
 */
export function createGrantees(parts: {
  audit: Audit
  store: OperatorStore
  gateOperators: { operatorList: OperatorList; accountState: AccountState }
}) {
  const { store } = parts
  const { operatorList, accountState } = parts.gateOperators
  const withdrawInvitations = createWithdrawal(parts)

  /** Removes the sign-in methods of an unverified account, for grantors who can let its owner in again. */
  function secured(actor: Actor, chosen: Chosen): Grantee {
    const { id, isVerified } = unchanged(chosen)
    if (!isVerified) {
      accountState.removeCredentials(actor, id)
      store.removeSignInLinks(id)
      for (const { tenantId } of store.membershipsOf(id)) withdrawInvitations(actor, tenantId, id)
    }
    return id as Grantee
  }

  /**
   * For grants by the owners of one tenant, who must not lock an operator of others out. Throws
   * `conflict` for an account that is not verified.
   */
  function verified(chosen: Chosen): Grantee {
    const { id, isVerified } = unchanged(chosen)
    if (!isVerified) throw conflict(NOT_VERIFIED)
    return id as Grantee
  }

  /**
   * A stranger could give up the address of another for one of their own, which is verified, right
   * before the grant. Throws `conflict`.
   */
  function unchanged({ id, email, at = Number.POSITIVE_INFINITY }: Chosen): Operator {
    const operator = operatorList.find(id) ?? fail(notFound('operator not found'))
    if (operator.email !== email || operator.emailSince > at) throw conflict(MOVED)
    return operator
  }

  return { secured, verified }
}

const MOVED = 'the email address of this account has changed; check who owns it, then try again'

const NOT_VERIFIED =
  'this address is not verified, so the account may belong to someone else. Ask them to verify ' +
  'it, or remove them and send a new invitation'
