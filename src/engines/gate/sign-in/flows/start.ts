import type { Caller } from '../../../../platform/caller.ts'
import { invalid } from '../../../../platform/errors.ts'
import type { Metering } from '../../../../platform/metering/index.ts'
import type { SecondFactors } from '../../credentials/second-factor/index.ts'
import type { Sessions } from '../../sessions/index.ts'
import type { TenantSettings } from '../../settings/index.ts'
import type { Flow, FlowKind, Language } from '../model.ts'
import type { Client } from './client.ts'
import type { EnabledMethods } from './enabled-methods.ts'
import { FLOW_NOT_FOUND, FlowRefusal } from './failure.ts'
import type { FlowRepository } from './flow.ts'
import type { PresentFlow } from './present.ts'
import { checkReturnTo } from './return-to.ts'
import type { Origin, Throttle } from './throttle.ts'

/** A tenant's request for a new flow. */
interface FlowRequest {
  returnTo?: string | undefined
  sessionToken?: string | undefined
  requestedAal?: 'aal1' | 'aal2' | undefined
  isRefresh?: boolean
  language: Language | undefined
  /** The client whose limits apply; undefined if a tenant's server vouches for the browser. */
  origin?: Origin
}

/** Starts flows. */
export function createStart(parts: {
  repository: FlowRepository
  present: PresentFlow
  enabledMethods: EnabledMethods
  settings: TenantSettings
  sessions: Sessions
  secondFactors: SecondFactors
  throttle: Throttle
  metering: Metering
}) {
  const {
    repository,
    present,
    enabledMethods,
    settings,
    sessions,
    secondFactors,
    throttle,
    metering,
  } = parts

  async function start(caller: Caller, kind: FlowKind, request: FlowRequest): Promise<Flow> {
    const { tenantId } = caller
    const { language = 'en', origin } = request
    if (!enabledMethods.allowsFlow({ tenantId, kind })) throw FLOW_NOT_FOUND
    const session = sessionFor(caller, kind, request)
    const returnTo =
      request.returnTo === undefined
        ? null
        : checkReturnTo(request.returnTo, settings.of(tenantId).returnUrls)
    if (origin) throttle.admit(origin)
    metering.reserve(caller)
    const flow = await repository.start({
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
    })
    return present(flow, {})
  }

  /** The session that the flow acts for, if its kind requires one. */
  function sessionFor({ tenantId }: Caller, kind: FlowKind, request: FlowRequest) {
    const { sessionToken, requestedAal, isRefresh } = request
    const isAgain = kind === 'login' && (requestedAal === 'aal2' || isRefresh === true)
    if (kind !== 'settings' && !isAgain) return undefined
    const session = sessions.authenticated(sessionToken, tenantId)
    if (kind === 'settings' && sessions.owes(session))
      throw new FlowRefusal(
        'session_aal2_required',
        'the session requires two-factor authentication',
      )
    if (requestedAal === 'aal2' && !secondFactors.isOwedBy({ tenantId, id: session.identity_id }))
      throw invalid(
        'must not be aal2: the identity has no second factor, or the tenant does not require one',
        { field: 'aal', rule: 'not_allowed' },
      )
    return session
  }

  /** Starts another flow of the same tenant, for the links between pages; returns its id. */
  async function branch(kind: FlowKind, fromId: string, client: Client): Promise<string> {
    throttle.counted(client)
    const from = repository.find(fromId)
    if (!from || repository.isExpired(from) || kind === 'settings' || from.kind === 'settings')
      throw FLOW_NOT_FOUND
    const { tenantId, returnTo } = from
    if (!enabledMethods.allowsFlow({ tenantId, kind })) throw FLOW_NOT_FOUND
    metering.admit(tenantId)
    const language = client.language ?? from.language
    return (await repository.start({ tenantId, kind, language, returnTo })).id
  }

  return { start, branch }
}
