import type { Db } from '../../../db/open.ts'
import type { Actor, Audit } from '../../../platform/audit/index.ts'
import { forbidden, notFound } from '../../../platform/errors.ts'
import { HOUSE_ID } from '../../../platform/house.ts'
import type { CredentialRemoval } from '../credential-removal.ts'
import type { AddressProof } from '../flows/address-proof.ts'
import type { Session, SessionDetail } from '../model/sessions.ts'
import type { ChangePassword } from '../password-change.ts'
import type { Hashing } from '../passwords/hashing.ts'
import type { People } from '../people.ts'
import type { Sessions } from '../sessions.ts'
import { houseCaller } from './caller.ts'
import { requireChosenPassword } from './chosen-password.ts'

/** Which link let somebody in, and with what device: `code` for one that went to their mailbox. */
interface Arrival {
  method: 'code' | 'link'
  ipAddress: string | null
  userAgent: string | null
}

/** By what operators are in, and what others take away or give them. */
export function createHouseSignIns(parts: {
  db: Db
  audit: Audit
  people: People
  sessions: Sessions
  hashing: Hashing
  setPassword: ChangePassword
  credentialRemoval: CredentialRemoval
  proof: Pick<AddressProof, 'prove'>
  minLength: number
}) {
  const { db, audit, people, sessions, hashing, setPassword, credentialRemoval } = parts
  const { proof, minLength } = parts

  const existing = (operatorId: string) => people.existing(HOUSE_ID, operatorId)

  /**
   * A session for whoever came by a link that is good once, within the commit that uses the link
   * up. It is of one factor: whoever has set up a second one still owes it.
   */
  function open(
    { id }: { id: string },
    { method, ipAddress, userAgent }: Arrival,
  ): { token: string; session: SessionDetail } {
    const operator = existing(id)
    if (operator.state === 'inactive') throw forbidden('the account is deactivated')
    const methods = [{ method, aal: 'aal1' as const }]
    return sessions.open(operator, { assuranceLevel: 'aal1', methods, ipAddress, userAgent })
  }

  /** Within a commit: the operator has shown that mail to their address reaches them. */
  const verify = (operatorId: string): void => proof.prove(existing(operatorId))

  /**
   * Ends all sessions but the one that is kept. Throws `invalid` for a password that breaks a rule.
   */
  async function changePassword(
    actor: Actor,
    of: { operatorId: string; password: string; keptSessionId?: string },
  ): Promise<void> {
    const { operatorId, password, keptSessionId } = of
    requireChosenPassword(password, { identifier: existing(operatorId).email, minLength })
    const hash = await hashing.hash({ tenantId: HOUSE_ID, client: operatorId }, password)
    await db.commitFor(HOUSE_ID, () => {
      setPassword(existing(operatorId), hash, keptSessionId)
      record(actor, 'identity.password_changed', operatorId)
    })
  }

  /** Those that are alive, newest first. */
  const list = (operatorId: string): Session[] => sessions.list(houseCaller(SYSTEM), operatorId)

  /** One of theirs. Throws `not_found` for any other. */
  async function end(
    actor: Actor,
    { operatorId, sessionId }: { operatorId: string; sessionId: string },
  ): Promise<void> {
    if (sessions.alive(HOUSE_ID, sessionId)?.identity_id !== operatorId)
      throw notFound('session not found')
    await sessions.revoke(houseCaller(actor), sessionId)
  }

  const endOthers = (
    actor: Actor,
    { operatorId, keptSessionId }: { operatorId: string; keptSessionId: string },
  ): Promise<void> =>
    db.commitFor(HOUSE_ID, () => {
      sessions.endOthers(existing(operatorId), keptSessionId)
      record(actor, 'sessions.revoked', operatorId)
    })

  const endAll = (actor: Actor, operatorId: string): Promise<void> =>
    sessions.revokeAll(houseCaller(actor), operatorId)

  /** For who has lost the authenticator and the recovery codes with it. */
  const removeSecondFactor = (actor: Actor, operatorId: string): Promise<void> =>
    credentialRemoval.remove(houseCaller(actor), operatorId, 'totp')

  const record = (actor: Actor, action: string, operatorId: string) =>
    audit.record({ tenantId: HOUSE_ID, actor, action, object: `identity:${operatorId}` })

  return { open, verify, changePassword, list, end, endOthers, endAll, removeSecondFactor }
}

const SYSTEM: Actor = { kind: 'system' }
