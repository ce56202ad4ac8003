import { AppError, fail, notFound } from '../../../../platform/errors.ts'
import type { Visit } from '../asked.ts'
import type { GateParts } from '../parts.ts'
import type { DoneTo } from './flashes.ts'

/** Actions on a user that need no form. */
export function identityActs({ frames, gate, config }: GateParts) {
  const { identities, editing, sessions, credentialRemoval, verification, recoveryMails } = gate

  /** A user of the operator's tenant. */
  const idOf = ({ caller, params }: Visit): string =>
    identities.find(caller, params.id)?.id ?? fail(notFound('identity not found'))

  async function setState(visit: Visit, state: 'active' | 'inactive'): Promise<Response> {
    await editing.setState(visit.caller, idOf(visit), state)
    return done(visit, state)
  }

  async function removeCredential(visit: Visit): Promise<Response> {
    await credentialRemoval.remove(visit.caller, idOf(visit), visit.params.part)
    return done(visit, 'credential')
  }

  async function removeAccount(visit: Visit): Promise<Response> {
    await credentialRemoval.removeAccount(visit.caller, idOf(visit), visit.params.part)
    return done(visit, 'credential')
  }

  const mailVerification = (visit: Visit): Promise<Response> =>
    mailed(visit, (id) => verification.resend(visit.caller, id))

  const mailRecovery = (visit: Visit): Promise<Response> =>
    mailed(visit, (id) => recoveryMails.send(visit.caller, id))

  /** Sends an email; a rate limit becomes a message instead of an error. */
  async function mailed(visit: Visit, send: (id: string) => Promise<unknown>): Promise<Response> {
    const id = idOf(visit)
    try {
      await send(id)
    } catch (error) {
      if (error instanceof AppError && error.kind === 'rate_limited') return done(visit, 'enough')
      throw error
    }
    return done(visit, config.mail.smtpUrl === undefined ? 'kept' : 'mailed')
  }

  async function revokeSession(visit: Visit): Promise<Response> {
    const isTheirs = sessions
      .list(visit.caller, idOf(visit))
      .some(({ id }) => id === visit.params.part)
    if (!isTheirs) throw notFound('session not found, or already ended')
    await sessions.revoke(visit.caller, visit.params.part)
    return done(visit, 'session')
  }

  async function revokeSessions(visit: Visit): Promise<Response> {
    await sessions.revokeAll(visit.caller, idOf(visit))
    return done(visit, 'sessions')
  }

  async function remove(visit: Visit): Promise<Response> {
    await identities.remove(visit.caller, idOf(visit))
    return frames.go('/console/identities?done=deleted')
  }

  const done = ({ params }: Visit, what: DoneTo): Response =>
    frames.go(`/console/identities/${params.id}?done=${what}`)

  return {
    setState,
    removeCredential,
    removeAccount,
    mailVerification,
    mailRecovery,
    revokeSession,
    revokeSessions,
    remove,
  }
}
