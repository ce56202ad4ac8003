import type { Clock } from '../../../../platform/clock.ts'
import { HOUR_MS } from '../../../../platform/durations.ts'
import { AppError } from '../../../../platform/errors.ts'
import type { Sessions } from '../../sessions/index.ts'
import type { SessionWithIdentity } from '../../sessions/store.ts'
import type { Client } from './client.ts'
import { FlowRefusal } from './failure.ts'
import type { FlowRepository, NewFlow } from './flow.ts'
import type { FlowRow } from './store.ts'
import type { Throttle } from './throttle.ts'

/** Maximum age of a sign-in, in milliseconds, for changes that could lock out the owner. */
const PRIVILEGED_MS = HOUR_MS

export type SessionAccess = ReturnType<typeof createSessionAccess>

/** Access to a session's flow: by session token, or from the first browser that opened it. */
export function createSessionAccess(parts: {
  clock: Clock
  repository: FlowRepository
  sessions: Sessions
  throttle: Throttle
  hostedUrl: (flow: FlowRow) => string
}) {
  const { clock, repository, sessions, throttle, hostedUrl } = parts

  async function requireSecondFactor(flow: FlowRow, row: SessionWithIdentity, client: Client) {
    if (sessions.owes(row))
      throw await leadingTo(flow, client, 'session_aal2_required', { requestedAal: 'aal2' })
  }

  function ofBrowser(flow: FlowRow, { browserHash }: Client): SessionWithIdentity {
    if (flow.browserHash === null)
      throw new FlowRefusal('session_inactive', 'missing session token: send X-Session-Token')
    if (flow.browserHash !== browserHash)
      throw new FlowRefusal('other_browser', 'the flow belongs to another browser')
    return (
      sessions.alive(flow.tenantId, flow.sessionId ?? '') ??
      refuse('session_inactive', 'the session of this flow has ended')
    )
  }

  /** Settings accept any session of the identity; other flows raise the level of their own only. */
  function byToken(flow: FlowRow, { sessionToken }: Client): SessionWithIdentity {
    const row = authenticated(sessionToken, flow.tenantId)
    // A flow ends with its session, because someone else may have started it.
    if (row.id !== flow.sessionId && !sessions.alive(flow.tenantId, flow.sessionId ?? ''))
      throw new FlowRefusal('session_inactive', 'the session of this flow has ended')
    const isTheirs =
      flow.kind === 'settings' ? row.identity_id === flow.identityId : row.id === flow.sessionId
    if (!isTheirs)
      throw new FlowRefusal(
        'security_identity_mismatch',
        'the session belongs to a different identity than the flow',
      )
    return row
  }

  function authenticated(token: string | undefined, tenantId: string): SessionWithIdentity {
    try {
      return sessions.authenticated(token, tenantId)
    } catch (error) {
      if (error instanceof AppError) throw new FlowRefusal('session_inactive', error.message)
      throw error
    }
  }

  /** Requires the client to own the flow, by its browser or by the session token. */
  const requireOwner = (flow: FlowRow, client: Client): SessionWithIdentity =>
    client.sessionToken === undefined ? ofBrowser(flow, client) : byToken(flow, client)

  /** Requires a recent sign-in for changes that could lock out the owner. */
  async function requireFresh(flow: FlowRow, row: SessionWithIdentity, client: Client) {
    if (clock.now() - row.authenticated_at <= PRIVILEGED_MS) return
    throw await leadingTo(flow, client, 'session_refresh_required', { isRefresh: true })
  }

  /** Adds to a refusal the URL where the user can provide the missing proof and then returns. */
  async function leadingTo(
    { tenantId, identityId, language, id: nextFlowId, returnTo, sessionId }: FlowRow,
    client: Client,
    what: 'session_aal2_required' | 'session_refresh_required',
    asked: Pick<NewFlow, 'isRefresh' | 'requestedAal'>,
  ): Promise<FlowRefusal> {
    const { wants, browserHash, sessionToken } = client
    throttle.admit(client)
    const acting = sessionToken === undefined ? sessionId : authenticated(sessionToken, tenantId).id
    const of = { tenantId, language, identityId, sessionId: acting, returnTo, ...asked }
    const onPages = wants === 'page' && { browserHash, nextFlowId }
    const login = await repository.start({ kind: 'login', ...of, ...onPages })
    return new FlowRefusal(what, WHAT[what], { redirect_browser_to: hostedUrl(login) })
  }

  return { requireOwner, requireSecondFactor, requireFresh }
}

function refuse(...of: ConstructorParameters<typeof FlowRefusal>): never {
  throw new FlowRefusal(...of)
}

const WHAT = {
  session_aal2_required: 'the session requires two-factor authentication',
  session_refresh_required: 'sign in again first: the last sign-in was over an hour ago',
}
