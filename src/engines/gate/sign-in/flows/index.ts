import type { AnyProvider } from '../../../../config/index.ts'
import type { Db } from '../../../../db/open.ts'
import type { Caller } from '../../../../platform/caller.ts'
import { type Clock, isoTime } from '../../../../platform/clock.ts'
import { isSame, sha256 } from '../../../../platform/crypto.ts'
import { invalid, notFound } from '../../../../platform/errors.ts'
import type { Metering } from '../../../../platform/metering/index.ts'
import type { SecondFactors } from '../../credentials/second-factor/index.ts'
import type { SignInEvents } from '../../metrics.ts'
import type { Sessions } from '../../sessions/index.ts'
import type { TenantSettings } from '../../settings/index.ts'
import type { Store } from '../../store.ts'
import type { ContinueWith, Flow, FlowKind, Language, SignedIn } from '../model.ts'
import type { OAuthStates } from '../social/oauth-states.ts'
import type { SocialSignIn } from '../social/sign-in.ts'
import type { Client } from './client.ts'
import type { Completed } from './completion.ts'
import { type Complaint, FlowFailure, FlowRefusal } from './failure.ts'
import { EXPIRED, type FlowRepository, isOfBrowser, type Notice } from './flow.ts'
import type { Kind, Outcome } from './kinds/kind.ts'
import type { Offers } from './offers.ts'
import type { PresentFlow } from './present.ts'
import { checkReturnTo } from './return-to.ts'
import type { SessionAccess } from './session-access.ts'
import type { FlowRow } from './store.ts'
import { createSubmission } from './submission.ts'
import type { Origin, Throttle } from './throttle.ts'

/** A tenant's request for a new flow. */
interface FlowRequest {
  returnTo?: string | undefined
  sessionToken?: string | undefined
  requestedAal?: 'aal1' | 'aal2' | undefined
  isRefresh?: boolean
  language: Language | undefined
  /**
   * The client whose limits apply, for browsers that no tenant's server vouches for; undefined for
   * a tenant's server.
   */
  origin?: Origin
}

/** The result of a form, before it becomes a response. */
export type Answer =
  | { is: 'signed_in'; flow: FlowRow; body: SignedIn; next: string | undefined }
  | { is: 'flow'; flow: FlowRow; body: Flow; next: string | undefined }
  | { is: 'elsewhere'; flow: FlowRow; url: string }
  | {
      is: 'failed'
      flow: FlowRow
      body: Flow
      status: 422 | 429
      retryAfterMs: number | undefined
    }

export type Flows = ReturnType<typeof createFlows>

/** Self-service flows from start to completion: contract/gate. */
export function createFlows(parts: {
  db: Db
  store: Store
  clock: Clock
  repository: FlowRepository
  kinds: Record<FlowKind, Kind>
  present: PresentFlow
  sessions: Sessions
  settings: TenantSettings
  secondFactors: SecondFactors
  access: SessionAccess
  metering: Metering
  throttle: Throttle
  offers: Offers
  oauthStates: OAuthStates
  socialSignIn: SocialSignIn
  signIns: SignInEvents
}) {
  const { db, store, clock, repository, kinds, present, sessions, settings, secondFactors } = parts
  const { access, metering, throttle, offers, oauthStates, socialSignIn, signIns } = parts

  async function start(caller: Caller, kind: FlowKind, request: FlowRequest): Promise<Flow> {
    const { tenantId } = caller
    const { language = 'en' } = request
    if (!offers.flow({ tenantId, kind })) throw NOT_FOUND
    const session = sessionFor(caller, kind, request)
    const returnTo =
      request.returnTo === undefined
        ? null
        : checkReturnTo(request.returnTo, settings.of(tenantId).returnUrls)
    if (request.origin) throttle.admit(request.origin)
    metering.reserve(caller)
    const row = await db.commitFor(tenantId, () =>
      repository.begin({
        tenantId,
        kind,
        language,
        returnTo,
        ...(session && {
          identityId: session.identity_id,
          sessionId: session.id,
          requestedAal: request.requestedAal ?? 'aal1',
          isRefresh: request.isRefresh ?? false,
        }),
      }),
    )
    return present(row, {})
  }

  /** The session that the flow acts for, if its kind requires one. */
  function sessionFor({ tenantId }: Caller, kind: FlowKind, request: FlowRequest) {
    const { sessionToken, requestedAal, isRefresh } = request
    const isAgain = kind === 'login' && (requestedAal === 'aal2' || isRefresh === true)
    if (kind !== 'settings' && !isAgain) return undefined
    const session = sessions.authenticated(sessionToken, tenantId)
    const person = { tenantId, id: session.identity_id }
    if (kind === 'settings' && sessions.owes(session))
      throw new FlowRefusal(
        'session_aal2_required',
        'the session requires two-factor authentication',
      )
    if (requestedAal === 'aal2' && !secondFactors.isOwedBy(person))
      throw invalid(
        'must not be aal2: the identity has no second factor, or the tenant does not require one',
        {
          field: 'aal',
          rule: 'not_allowed',
        },
      )
    return session
  }

  /** Reads a flow by id. Throws `FlowRefusal`. */
  async function read(
    kind: FlowKind,
    id: string,
    client: Client,
    code?: string,
  ): Promise<{ row: FlowRow; flow: Flow }> {
    const mine = await claimed(existing(kind, id), client)
    if (kind === 'settings') await access.require(mine, client)
    const spoken = { ...mine, language: client.language ?? mine.language }
    return { row: spoken, flow: present(spoken, { code, client }) }
  }

  function existing(kind: FlowKind, id: string, caller?: Caller): FlowRow {
    const row = store.flows.find(id)
    const isTheirs = caller === undefined || caller.tenantId === row?.tenantId
    if (row?.kind !== kind || !isTheirs || !offers.flow(row)) throw NOT_FOUND
    return row
  }

  /**
   * Binds a flow that acts for a session to the first browser that opens it, so that knowing its
   * URL does not suffice for a second one. A completed flow is not bound. Programs show the session
   * token instead. Other flows can be opened by anyone, like links in mails.
   */
  async function claimed(row: FlowRow, client: Client): Promise<FlowRow> {
    const { wants, browserHash } = client
    if (row.sessionId !== null && row.browserHash === null && wants === 'page')
      return bound(row, client)
    if (row.sessionId !== null) access.requireOwner(row, client)
    else requireBrowser(row, browserHash)
    return unexpired(row, client)
  }

  async function bound(row: FlowRow, client: Client): Promise<FlowRow> {
    throttle.admit(client)
    const { browserHash } = client
    return db.commitFor(row.tenantId, () => {
      const current = store.flows.find(row.id) ?? row
      if (current.browserHash !== null) return requireBrowser(current, browserHash)
      if (repository.isExpired(current))
        throw new FlowRefusal('self_service_flow_expired', 'the flow has expired')
      if (current.completedAt !== null)
        throw new FlowRefusal('other_browser', 'the flow is complete')
      return repository.save(current, { browserHash })
    })
  }

  /**
   * Throws for an expired flow with its successor, which stays the same until it expires as well.
   */
  async function unexpired(row: FlowRow, client: Client): Promise<FlowRow> {
    if (!repository.isExpired(row)) return row
    throttle.admit(client)
    const next = await db.commitFor(row.tenantId, () => {
      const current = store.flows.find(row.id) ?? row
      const known = current.replacedBy === null ? undefined : store.flows.find(current.replacedBy)
      if (known && !repository.isExpired(known)) return known
      const renewed = followed(current, [{ id: EXPIRED[row.kind] }])
      repository.save(current, { replacedBy: renewed.id })
      return renewed
    })
    throw new FlowRefusal('self_service_flow_expired', 'the flow has expired', {
      use_flow_id: next.id,
      expired_at: isoTime(row.expiresAt),
      since: clock.now() - row.expiresAt,
    })
  }

  /** A new flow that succeeds another one. Throws if metering admits no new flow. */
  function followed(row: FlowRow, notices: Notice[]): FlowRow {
    metering.admit(row.tenantId)
    return repository.renew(row, notices)
  }

  function requireBrowser(row: FlowRow, browserHash: string | null): FlowRow {
    if (isOfBrowser(row, browserHash)) return row
    throw new FlowRefusal('other_browser', 'the flow belongs to another browser')
  }

  /** Another flow of the same tenant, for the links between pages. */
  async function branch(kind: FlowKind, fromId: string, client: Client): Promise<string> {
    throttle.counted(client)
    const from = store.flows.find(fromId)
    if (!from || repository.isExpired(from) || kind === 'settings' || from.kind === 'settings')
      throw NOT_FOUND
    if (!offers.flow({ tenantId: from.tenantId, kind })) throw NOT_FOUND
    metering.admit(from.tenantId)
    const { tenantId, language, returnTo } = from
    const row = await db.commitFor(tenantId, () =>
      repository.begin({ tenantId, kind, language: client.language ?? language, returnTo }),
    )
    return row.id
  }

  /** Handles a submitted form. With a `caller`, only for flows of that tenant. */
  async function submit(
    kind: FlowKind,
    id: string,
    body: Record<string, unknown>,
    client: Client,
    { caller, needsToken }: { caller: Caller | undefined; needsToken: boolean },
  ): Promise<Answer> {
    const found = existing(kind, id, caller)
    const input = createSubmission(body)
    if (needsToken) requireCsrfToken(found, body.csrf_token, client)
    const row = await spokenBy(await claimed(found, client), client)
    if (kind === 'settings') await access.require(row, client)
    try {
      if (row.completedAt !== null) repository.open(row.id)
      const submitted = () => kinds[kind].submit(row, input, client)
      return answerTo(row, client, await signIns.counted(kind, input, submitted))
    } catch (error) {
      if (!(error instanceof FlowFailure)) throw error
      const current = store.flows.find(row.id) ?? row
      const flow = { ...current, notices: null, language: row.language }
      const { complaints, status, retryAfterMs } = error
      const shown = present(flow, { complaints, typed: input, client })
      return { is: 'failed', flow, body: shown, status, retryAfterMs }
    }
  }

  function requireCsrfToken(row: FlowRow, given: unknown, client: Client) {
    if (typeof given !== 'string' || !isSame(given, repository.csrfTokenOf(row, pageOf(client))))
      throw new FlowRefusal(
        'security_csrf_violation',
        'csrf_token: is missing, or belongs to another flow',
      )
  }

  /** Uses the language of the client for mails and later steps. */
  async function spokenBy(row: FlowRow, client: Client): Promise<FlowRow> {
    const { language } = client
    if (language === undefined || language === row.language || row.completedAt !== null) return row
    if (!throttle.takeIfRoom(client)) return { ...row, language }
    return db.commitFor(row.tenantId, () =>
      repository.save(store.flows.find(row.id) ?? row, { language }),
    )
  }

  function answerTo(row: FlowRow, client: Client, outcome: Outcome): Answer {
    if (outcome.is === 'elsewhere') return { ...outcome, flow: row }
    if (outcome.is === 'signed_in')
      return { is: 'signed_in', flow: row, body: signedIn(row, outcome), next: outcome.next }
    const { flow, continueWith, next } = outcome
    return {
      is: 'flow',
      flow,
      body: present(flow, { client, ...(continueWith && { continueWith }) }),
      next,
    }
  }

  function signedIn({ kind }: FlowRow, outcome: Completed): SignedIn {
    const { token = '', session, owesSecondFactor, continueWith } = outcome
    const toDo: ContinueWith[] = [
      { action: 'set_ory_session_token', ory_session_token: token },
      ...continueWith,
    ]
    return {
      session_token: token,
      session: { ...session, token, identity: owesSecondFactor ? null : session.identity },
      ...(kind === 'registration' && { identity: session.identity }),
      continue_with: token === '' ? continueWith : toDo,
    }
  }

  /** Handles a browser that returns from a provider. Never throws `FlowFailure`. */
  async function arrive(
    provider: AnyProvider,
    params: URLSearchParams,
    client: Client,
  ): Promise<Answer> {
    throttle.counted(client)
    const { flow, isOwnBrowser, arrival } = await oauthStates.end(provider, params, client)
    try {
      const arrived = async () => {
        const profile = await arrival()
        return socialSignIn.arrive(flow, { provider, profile, isOwnBrowser }, client)
      }
      return answerTo(flow, client, await signIns.counted(flow.kind, 'oidc', arrived))
    } catch (error) {
      if (!(error instanceof FlowFailure)) throw error
      return putOff(flow, error)
    }
  }

  /** Stores errors for the page of the flow, where the browser goes next. */
  async function putOff(row: FlowRow, { complaints, status }: FlowFailure): Promise<Answer> {
    const notices = complaints.map(({ id, context }: Complaint) => ({ id, context }))
    const flow = await db.commitFor(row.tenantId, () => {
      const current = store.flows.find(row.id) ?? row
      const isOver = current.completedAt !== null || repository.isExpired(current)
      return isOver
        ? followed(current, notices)
        : repository.save(current, { notices: JSON.stringify(notices) })
    })
    return { is: 'failed', flow, body: present(flow, {}), status, retryAfterMs: undefined }
  }

  /**
   * Exchanges the code that a browser brought back for the session; works once and only for a short
   * time.
   */
  async function exchange(
    caller: Caller,
    { flow: id, code }: { flow: string; code: string },
  ): Promise<SignedIn> {
    return db.commitFor(caller.tenantId, () => {
      const row = store.flows.find(id)
      if (row?.tenantId !== caller.tenantId) throw notFound('flow not found')
      const { exchangeHash, exchangeExpiresAt, exchangeSessionId: sessionId } = row
      const isGood =
        exchangeHash !== null &&
        isSame(exchangeHash, sha256(code)) &&
        clock.now() < (exchangeExpiresAt ?? 0)
      if (!isGood) throw invalid('is wrong, used, or expired', { field: 'code', rule: 'expired' })
      const session = sessionId === null ? undefined : sessions.alive(row.tenantId, sessionId)
      if (!session)
        throw invalid('belongs to a session that has ended', { field: 'code', rule: 'expired' })
      if (sessions.owes(session))
        throw new FlowRefusal('session_aal2_required', 'two-factor authentication is now required')
      repository.save(row, { exchangeHash: null, exchangeExpiresAt: null })
      const token = sessions.reissue(row.tenantId, session.id)
      const shown = sessions.present(session)
      return {
        session_token: token,
        session: { ...shown, token },
        identity: shown.identity,
        continue_with: null,
      }
    })
  }

  /** The flow that continues a completed one. */
  function onward({ completedAt, nextFlowId }: FlowRow): FlowRow | undefined {
    if (completedAt === null || nextFlowId === null) return undefined
    const next = store.flows.find(nextFlowId)
    return next && !repository.isExpired(next) ? next : undefined
  }

  return { start, read, onward, branch, submit, arrive, exchange }
}

const NOT_FOUND = new FlowRefusal('flow_not_found', 'flow not found')

/** The browser that a page is bound to; null for a program, which has no cookie. */
const pageOf = ({ wants, browserHash }: Client): string | null =>
  wants === 'page' ? browserHash : null
