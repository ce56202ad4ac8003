import type { AnyProvider } from '../../../../config/index.ts'
import type { Db } from '../../../../db/open.ts'
import type { Clock } from '../../../../platform/clock.ts'
import { mintSecret, sha256 } from '../../../../platform/crypto.ts'
import { MINUTE_MS } from '../../../../platform/durations.ts'
import type { Log } from '../../../../platform/log.ts'
import type { Sealing } from '../../../../platform/sealing/index.ts'
import { roundTripSecrets } from '../../sealed.ts'
import type { Store } from '../../store.ts'
import type { Client } from '../flows/client.ts'
import { complain, FlowRefusal } from '../flows/failure.ts'
import { type FlowRepository, isOfBrowser } from '../flows/flow.ts'
import type { SentAway } from '../flows/kinds/kind.ts'
import type { FlowRow } from '../flows/store.ts'
import type { Submission } from '../flows/submission.ts'
import type { Throttle } from '../flows/throttle.ts'
import { aboutProvider } from '../flows/ui/index.ts'
import { type RoundTripSecrets, type Social, SocialError, type SocialProfile } from './index.ts'
import type { OAuthStateRow } from './oauth-states-store.ts'

const { purpose: PURPOSE, boundTo } = roundTripSecrets
/** How long a user may take at the provider, in milliseconds. */
const AWAY_MS = 30 * MINUTE_MS
/** Maximum number of open round trips per flow; another one discards the oldest. */
const MAX_CONCURRENT = 10

export type OAuthStates = ReturnType<typeof createOAuthStates>

/**
 * OAuth round trips. The secrets to check the response with are stored under the hash of a random
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

  async function begin(
    flow: FlowRow,
    { provider, input, client }: { provider: AnyProvider; input: Submission; client: Client },
  ): Promise<SentAway> {
    throttle.counted(client)
    const state = mintSecret()
    const redirectUri = callbackUrl(provider)
    const { url, secrets } = await asComplaints(provider, () =>
      social.begin(provider, { redirectUri, state, upstream: upstreamIn(input) }),
    )
    const now = clock.now()
    const stateHash = sha256(state)
    await db.commitFor(flow.tenantId, () => {
      repository.open(flow.id)
      store.oauthStates.removeBeyond(flow.tenantId, flow.id, MAX_CONCURRENT - 1)
      store.oauthStates.insert({
        stateHash,
        tenantId: flow.tenantId,
        flowId: flow.id,
        provider,
        secrets: sealing.seal(PURPOSE, boundTo({ stateHash }), JSON.stringify(secrets)),
        browserHash: client.wants === 'page' ? client.browserHash : null,
        issuedAt: now,
        expiresAt: Math.min(now + AWAY_MS, flow.expiresAt),
      })
    })
    return { is: 'elsewhere', url }
  }

  /**
   * The flow that a browser returns to, and the user according to the provider. An invalid return
   * throws a refusal; an error of the provider may still be shown in the flow.
   */
  async function end(
    provider: AnyProvider,
    params: URLSearchParams,
    client: Client,
  ): Promise<{ flow: FlowRow; isOwnBrowser: boolean; arrival: () => Promise<SocialProfile> }> {
    const state = params.get('state') ?? ''
    const trip = await db.commit(() => take(sha256(state), provider, client))
    if (!trip) throw UNKNOWN
    const flow = store.flows.find(trip.flowId)
    if (!flow) throw UNKNOWN
    // If a program started the round trip, the browser that it ends in is unknown.
    const isOwnBrowser = trip.browserHash !== null
    return { flow, isOwnBrowser, arrival: () => arrive(trip, params, state) }
  }

  /** A return that does not match leaves the state to its own browser and provider. */
  function take(stateHash: string, provider: AnyProvider, { browserHash }: Client) {
    const trip = store.oauthStates.find(stateHash)
    const isTheirs = trip && trip.provider === provider && isOfBrowser(trip, browserHash)
    if (!isTheirs || clock.now() >= trip.expiresAt) return undefined
    return store.oauthStates.take(stateHash)
  }

  async function arrive(trip: OAuthStateRow, params: URLSearchParams, state: string) {
    const { provider, stateHash } = trip
    const secrets: RoundTripSecrets = JSON.parse(
      sealing.open(PURPOSE, boundTo({ stateHash }), trip.secrets),
    )
    const redirectUri = callbackUrl(provider)
    return asComplaints(provider, () =>
      social.complete(provider, { redirectUri, params, state, secrets }),
    )
  }

  /** Shows a general error on the page of the flow, and logs the details. */
  async function asComplaints<T>(provider: AnyProvider, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof SocialError)) throw error
      if (error.reason === 'failed')
        log.warn('social login failed', { provider, error: error.message })
      const id = error.reason === 'denied' ? 4900003 : 4900004
      throw complain(id, { context: aboutProvider(provider) })
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
