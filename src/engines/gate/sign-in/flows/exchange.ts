import type { Db } from '../../../../db/open.ts'
import type { Caller } from '../../../../platform/caller.ts'
import type { Clock } from '../../../../platform/clock.ts'
import { isSame, mintSecret, sha256 } from '../../../../platform/crypto.ts'
import { MINUTE_MS } from '../../../../platform/durations.ts'
import { invalid, notFound } from '../../../../platform/errors.ts'
import type { Sessions } from '../../sessions/index.ts'
import type { SignedIn } from '../model.ts'
import { FlowRefusal } from './failure.ts'
import type { FlowRepository } from './flow.ts'
import type { FlowRow } from './store.ts'

const EXCHANGE_MS = 5 * MINUTE_MS

/** A code that a browser takes to the app, and the columns of the flow that accepts it. */
export function newExchangeCode(now: number) {
  const code = mintSecret()
  return { code, columns: { exchangeHash: sha256(code), exchangeExpiresAt: now + EXCHANGE_MS } }
}

export const acceptsExchangeCode = (flow: FlowRow, code: string, now: number): boolean =>
  flow.exchangeHash !== null &&
  isSame(flow.exchangeHash, sha256(code)) &&
  now < (flow.exchangeExpiresAt ?? 0)

/** Exchanges the browser's code for the session; works once and only for a short time. */
export const createExchange =
  (parts: { db: Db; clock: Clock; repository: FlowRepository; sessions: Sessions }) =>
  async (caller: Caller, { flow: id, code }: { flow: string; code: string }): Promise<SignedIn> => {
    const { db, clock, repository, sessions } = parts
    return db.commitFor(caller.tenantId, () => {
      const flow = repository.find(id)
      if (flow?.tenantId !== caller.tenantId) throw notFound('flow not found')
      if (!acceptsExchangeCode(flow, code, clock.now()))
        throw invalid('is wrong, used, or expired', { field: 'code', rule: 'expired' })
      const session = sessions.alive(flow.tenantId, flow.exchangeSessionId ?? '')
      if (!session)
        throw invalid('belongs to a session that has ended', { field: 'code', rule: 'expired' })
      if (sessions.owes(session))
        throw new FlowRefusal('session_aal2_required', 'two-factor authentication is now required')
      repository.save(flow, { exchangeHash: null, exchangeExpiresAt: null })
      const token = sessions.reissue(flow.tenantId, session.id)
      const shown = sessions.present(session)
      return {
        session_token: token,
        session: { ...shown, token },
        identity: shown.identity,
        continue_with: null,
      }
    })
  }
