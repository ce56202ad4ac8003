import { AppError, fail, notFound } from '../../../../platform/errors.ts'
import type { Context } from '../context.ts'
import type { GateParts } from '../parts.ts'
import type { FlashKey } from './flashes.ts'

/** Actions on a user that need no form. */
export function identityActions({ layout, gate, config }: GateParts) {
  const { identities, editing, sessions, credentialRemoval, verification, recoveryMails } = gate

  /** A user of the operator's tenant. */
  const idOf = ({ caller, params }: Context): string =>
    identities.find(caller, params.id)?.id ?? fail(notFound('identity not found'))

  async function setState(context: Context, state: 'active' | 'inactive'): Promise<Response> {
    await editing.setState(context.caller, idOf(context), state)
    return done(context, state)
  }

  async function removeCredential(context: Context): Promise<Response> {
    await credentialRemoval.remove(context.caller, idOf(context), context.params.part)
    return done(context, 'credential')
  }

  async function removeAccount(context: Context): Promise<Response> {
    await credentialRemoval.removeAccount(context.caller, idOf(context), context.params.part)
    return done(context, 'credential')
  }

  const mailVerification = (context: Context): Promise<Response> =>
    mailed(context, (id) => verification.resend(context.caller, id))

  const mailRecovery = (context: Context): Promise<Response> =>
    mailed(context, (id) => recoveryMails.send(context.caller, id))

  /** Sends an email; a rate limit becomes a message instead of an error. */
  async function mailed(
    context: Context,
    send: (id: string) => Promise<unknown>,
  ): Promise<Response> {
    const id = idOf(context)
    try {
      await send(id)
    } catch (error) {
      if (error instanceof AppError && error.kind === 'rate_limited') return done(context, 'enough')
      throw error
    }
    return done(context, config.mail.smtpUrl === undefined ? 'kept' : 'mailed')
  }

  async function revokeSession(context: Context): Promise<Response> {
    const isTheirs = sessions
      .list(context.caller, idOf(context))
      .some(({ id }) => id === context.params.part)
    if (!isTheirs) throw notFound('session not found, or already ended')
    await sessions.revoke(context.caller, context.params.part)
    return done(context, 'session')
  }

  async function revokeSessions(context: Context): Promise<Response> {
    await sessions.revokeAll(context.caller, idOf(context))
    return done(context, 'sessions')
  }

  async function remove(context: Context): Promise<Response> {
    await identities.remove(context.caller, idOf(context))
    return layout.go('/console/identities?done=deleted')
  }

  const done = ({ params }: Context, what: FlashKey): Response =>
    layout.go(`/console/identities/${params.id}?done=${what}`)

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
