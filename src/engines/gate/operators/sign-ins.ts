import type { Db } from '../../../db/open.ts'
import type { Actor, Audit } from '../../../platform/audit/index.ts'
import { forbidden, notFound } from '../../../platform/errors.ts'
import { SYSTEM_TENANT_ID } from '../../../platform/system-tenant.ts'
import type { ChangePassword } from '../credentials/password-change.ts'
import type { Hashing } from '../credentials/passwords/hashing.ts'
import type { CredentialRemoval } from '../credentials/removal.ts'
import type { People } from '../identities/people.ts'
import type { Sessions } from '../sessions/index.ts'
import type { Session, SessionDetail } from '../sessions/model.ts'
import { systemTenantCaller } from './caller.ts'
import { requireChosenPassword } from './chosen-password.ts'

/** The link that was used to sign in, and the device: `code` if the link was mailed. */
interface LinkSignIn {
  method: 'code' | 'link'
  ipAddress: string | null
  userAgent: string | null
}

/** Sessions and credentials of operators, and how others can change them. */
export function createOperatorSignIns(parts: {
  db: Db
  audit: Audit
  people: People
  sessions: Sessions
  hashing: Hashing
  setPassword: ChangePassword
  credentialRemoval: CredentialRemoval
  minLength: number
}) {
  const { db, audit, people, sessions, hashing, setPassword, credentialRemoval, minLength } = parts

  const existing = (operatorId: string) => people.existing(SYSTEM_TENANT_ID, operatorId)

  /**
   * Opens a session for a one-time link, within the commit that uses the link up. The session has
   * one factor: operators with a second factor still have to provide it.
   */
  function open(
    { id }: { id: string },
    { method, ipAddress, userAgent }: LinkSignIn,
  ): { token: string; session: SessionDetail } {
    const operator = existing(id)
    if (operator.state === 'inactive') throw forbidden('the account is deactivated')
    const methods = [{ method, aal: 'aal1' as const }]
    return sessions.open(operator, { assuranceLevel: 'aal1', methods, ipAddress, userAgent })
  }

  /** Marks the operator's address as verified, within a commit. */
  const verify = (operatorId: string): void => people.prove(existing(operatorId))

  /** Ends all sessions except one. Throws `invalid` for a password that breaks a rule. */
  async function changePassword(
    actor: Actor,
    of: { operatorId: string; password: string; keptSessionId?: string },
  ): Promise<void> {
    const { operatorId, password, keptSessionId } = of
    requireChosenPassword(password, { identifier: existing(operatorId).email, minLength })
    const hash = await hashing.hash({ tenantId: SYSTEM_TENANT_ID, client: operatorId }, password)
    await db.commitFor(SYSTEM_TENANT_ID, () => {
      setPassword(existing(operatorId), hash, keptSessionId)
      record(actor, 'identity.password_changed', operatorId)
    })
  }

  /** The session of a token, even if a second factor is missing. Throws `unauthenticated`. */
  const authenticated = (token: string) => sessions.authenticated(token, SYSTEM_TENANT_ID)

  /** Active sessions, newest first. */
  const list = (operatorId: string): Session[] =>
    sessions.list(systemTenantCaller(SYSTEM), operatorId)

  /** Ends a session of the operator. Throws `not_found` for any other session. */
  async function end(
    actor: Actor,
    { operatorId, sessionId }: { operatorId: string; sessionId: string },
  ): Promise<void> {
    if (sessions.alive(SYSTEM_TENANT_ID, sessionId)?.identity_id !== operatorId)
      throw notFound('session not found')
    await sessions.revoke(systemTenantCaller(actor), sessionId)
  }

  const endOthers = (
    actor: Actor,
    { operatorId, keptSessionId }: { operatorId: string; keptSessionId: string },
  ): Promise<void> =>
    db.commitFor(SYSTEM_TENANT_ID, () => {
      sessions.endOthers(existing(operatorId), keptSessionId)
      record(actor, 'sessions.revoked', operatorId)
    })

  const endAll = (actor: Actor, operatorId: string): Promise<void> =>
    sessions.revokeAll(systemTenantCaller(actor), operatorId)

  /** Removes authenticator app and recovery codes, for an operator who has lost both. */
  const removeSecondFactor = (actor: Actor, operatorId: string): Promise<void> =>
    credentialRemoval.remove(systemTenantCaller(actor), operatorId, 'totp')

  const record = (actor: Actor, action: string, operatorId: string) =>
    audit.recordForOperators({ actor, action, object: `identity:${operatorId}` })

  return {
    open,
    verify,
    changePassword,
    authenticated,
    owes: sessions.owes,
    list,
    end,
    endOthers,
    endAll,
    removeSecondFactor,
  }
}

const SYSTEM: Actor = { kind: 'system' }
