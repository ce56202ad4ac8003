import type { AnyProvider } from '../../../../config/index.ts'
import type { Db } from '../../../../db/open.ts'
import type { Clock } from '../../../../platform/clock.ts'
import { mintSecret, sha256 } from '../../../../platform/crypto.ts'
import { MINUTE_MS } from '../../../../platform/durations.ts'
import type { Log } from '../../../../platform/log.ts'
import type { Sealing } from '../../../../platform/sealing/index.ts'
import { oauthStateSecrets } from '../../sealed.ts'
import type { Store } from '../../store.ts'
import type { Client } from '../flows/client.ts'
import { FlowRefusal, fieldError } from '../flows/failure.ts'
import { type FlowRepository, isOfBrowser } from '../flows/flow.ts'
import type { Redirect } from '../flows/kinds/kind.ts'
import type { FlowRow } from '../flows/store.ts'
import type { Form, Submission } from '../flows/submission.ts'
import type { Throttle } from '../flows/throttle.ts'
import { aboutProvider } from '../flows/ui/index.ts'
import { type OAuthSecrets, type Social, SocialError, type SocialProfile } from './index.ts'
import type { OAuthStateRow } from './oauth-states-store.ts'

const { purpose: PURPOSE, boundTo } = oauthStateSecrets
/** How long a user may take at the provider, in milliseconds. */
const MAX_AT_PROVIDER_MS = 30 * MINUTE_MS
/** Maximum number of open sign-ins at providers per flow; another one discards the oldest. */
const MAX_CONCURRENT = 10

export type OAuthStates = ReturnType<typeof createOAuthStates>

/**
 * OAuth states. The secrets to check the response with are stored under the hash of a random
 * `state`, which works once, for the same provider and, if known, the same browser.
 */
export function createOAuthStates(parts: {
  db: Db
  store: Store
  clock: Clock
  log: Log
  sealing: Sealing
  repository: FlowRepository
  social: Social
  throttle: Throttle
  callbackUrl: (provider: AnyProvider) => string
}) {
  const { db, store, clock, log, sealing, repository, social, throttle, callbackUrl } = parts

  async function begin({ flow, input, client }: Form, provider: AnyProvider): Promise<Redirect> {
    throttle.counted(client)
    const state = mintSecret()
    const redirectUri = callbackUrl(provider)
    const { url, secrets } = await withFieldErrors(provider, () =>
      social.begin(provider, { redirectUri, state, upstream: upstreamIn(input) }),
    )
    const now = clock.now()
    const stateHash = sha256(state)
    await repository.advance(flow, () => {
      store.oauthStates.removeBeyond(flow.tenantId, flow.id, MAX_CONCURRENT - 1)
      store.oauthStates.insert({
        stateHash,
        tenantId: flow.tenantId,
        flowId: flow.id,
        provider,
        secrets: sealing.seal(PURPOSE, boundTo({ stateHash }), JSON.stringify(secrets)),
        browserHash: client.wants === 'page' ? client.browserHash : null,
        issuedAt: now,
        expiresAt: Math.min(now + MAX_AT_PROVIDER_MS, flow.expiresAt),
      })
    })
    return { is: 'redirect', url }
  }

  /**
   * The flow that a browser returns to, and the user according to the provider. An invalid return
   * throws a refusal; an error of the provider may still be shown in the flow.
   */
  async function end(
    provider: AnyProvider,
    params: URLSearchParams,
    client: Client,
  ): Promise<{ flow: FlowRow; isOwnBrowser: boolean; profile: () => Promise<SocialProfile> }> {
    throttle.counted(client)
    const state = params.get('state') ?? ''
    const oauthState = await db.commit(() => take(sha256(state), provider, client))
    if (!oauthState) throw UNKNOWN
    const flow = repository.find(oauthState.flowId)
    if (!flow) throw UNKNOWN
    // If a program started the sign-in, the browser that it ends in is unknown.
    const isOwnBrowser = oauthState.browserHash !== null
    return { flow, isOwnBrowser, profile: () => profileOf(oauthState, params, state) }
  }

  /** A return that does not match leaves the state to its own browser and provider. */
  function take(stateHash: string, provider: AnyProvider, { browserHash }: Client) {
    const oauthState = store.oauthStates.find(stateHash)
    const isTheirs =
      oauthState && oauthState.provider === provider && isOfBrowser(oauthState, browserHash)
    if (!isTheirs || clock.now() >= oauthState.expiresAt) return undefined
    return store.oauthStates.take(stateHash)
  }

  async function profileOf(oauthState: OAuthStateRow, params: URLSearchParams, state: string) {
    const { provider, stateHash } = oauthState
    const secrets: OAuthSecrets = JSON.parse(
      sealing.open(PURPOSE, boundTo({ stateHash }), oauthState.secrets),
    )
    const redirectUri = callbackUrl(provider)
    return withFieldErrors(provider, () =>
      social.complete(provider, { redirectUri, params, state, secrets }),
    )
  }

  /** Shows a general error on the page of the flow, and logs the details. */
  async function withFieldErrors<T>(provider: AnyProvider, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof SocialError)) throw error
      if (error.reason === 'failed')
        log.warn('social login failed', { provider, error: error.message })
      const id = error.reason === 'denied' ? 4900003 : 4900004
      throw fieldError(id, { context: aboutProvider(provider) })
    }
  }

  return { begin, end }
}

const UNKNOWN = new FlowRefusal(
  'security_csrf_violation',
  'this sign-in with a provider is unknown, was already completed, or has expired',
)

const MAX_LENGTH = 200

/** Parameters for the provider, such as a login hint; the provider's descriptor filters them. */
const upstreamIn = (input: Submission): Record<string, string> =>
  Object.fromEntries(
    Object.entries(input.object('upstream_parameters')).filter(
      (entry): entry is [string, string] =>
        typeof entry[1] === 'string' && entry[1].length <= MAX_LENGTH,
    ),
  )
