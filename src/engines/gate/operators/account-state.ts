import type { Actor, Audit } from '../../../platform/audit/index.ts'
import { SYSTEM_TENANT_ID } from '../../../platform/system-tenant.ts'
import type { Credentials } from '../credentials/index.ts'
import type { People } from '../identities/people.ts'
import type { State } from '../identities/store.ts'
import { endSessions } from '../sessions/index.ts'
import type { Store } from '../store.ts'

export type AccountState = ReturnType<typeof createAccountState>

/** Account state of operators, as set by administrators, each change within the caller's commit. */
export function createAccountState(parts: {
  store: Store
  people: People
  credentials: Credentials
  audit: Audit
}) {
  const { store, people, credentials, audit } = parts
  const existing = (operatorId: string) => people.existing(SYSTEM_TENANT_ID, operatorId)

  /** Deactivating ends all sessions immediately; reactivating does not restore them. */
  const setState = (actor: Actor, operatorId: string, state: State): void =>
    void people.change(existing(operatorId), actor, { state })

  /** Ends all sessions immediately; the operator can sign in again. */
  function signOut(actor: Actor, operatorId: string) {
    endSessions(store, existing(operatorId))
    record(actor, 'sessions.revoked', operatorId)
  }

  /**
   * Removes every credential and session of an account that a stranger may have created with
   * someone else's address.
   */
  function removeCredentials(actor: Actor, operatorId: string) {
    const operator = existing(operatorId)
    credentials.removeAll(operator)
    people.endAccess(operator)
    record(actor, 'identity.credentials_wiped', operatorId)
  }

  const record = (actor: Actor, action: string, operatorId: string) =>
    audit.recordForOperators({ actor, action, object: `identity:${operatorId}` })

  return { setState, signOut, removeCredentials }
}
