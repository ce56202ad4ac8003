import type { AnyProvider } from '../../../config/index.ts'
import type { Db } from '../../../db/open.ts'
import type { Clock } from '../../../platform/clock.ts'
import { mintSecret, sha256 } from '../../../platform/crypto.ts'
import type { Log } from '../../../platform/log.ts'
import type { Sealing } from '../../../platform/sealing/index.ts'
import type { Client } from '../flows/client.ts'
import { complain, FlowRefusal } from '../flows/failure.ts'
import { type FlowKeeper, isOfBrowser } from '../flows/flow.ts'
import type { SentAway } from '../flows/kinds/kind.ts'
import type { Submission } from '../flows/submission.ts'
import type { Throttle } from '../flows/throttle.ts'
import { aboutProvider } from '../flows/ui/index.ts'
import { roundTripSecrets } from '../sealed.ts'
import type { FlowRow } from '../store/flows.ts'
import type { Store } from '../store/index.ts'
import type { RoundTripRow } from '../store/round-trips.ts'
import { type RoundTripSecrets, type Social, SocialError, type SocialProfile } from './index.ts'

const { purpose: PURPOSE, place: placeOf } = roundTripSecrets
/** How long somebody may take at the provider. */
const AWAY_MS = 30 * 60_000
/** Ways of one flow that are open; with a further one, the oldest is given up. */
const MOST_AT_ONCE = 10

export type RoundTrips = ReturnType<typeof createRoundTrips>

/**
 * The way to a provider and back. What the answer is checked by is kept under the hash of a
 * `state` that nobody can guess, and is good once, for the same provider and, where one is known,
 * for the same browser.
 */
export function createRoundTrips(parts: {
  db: Db
  store: Store
  clock: Clock
  log: Log
  sealing: Sealing
  keeper: FlowKeeper
  social: Social
  throttle: Throttle
  callbackUrl: (provider: AnyProvider) => string
}) {
  const { db, store, clock, log, sealing, keeper, social, throttle, callbackUrl } = parts

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
      keeper.open(flow.id)
      store.roundTrips.removeBeyond(flow.tenantId, flow.id, MOST_AT_ONCE - 1)
      store.roundTrips.insert({
        stateHash,
        tenantId: flow.tenantId,
        flowId: flow.id,
        provider,
        secrets: sealing.seal(PURPOSE, placeOf({ stateHash }), JSON.stringify(secrets)),
        browserHash: client.wants === 'page' ? client.browserHash : null,
        issuedAt: now,
        expiresAt: Math.min(now + AWAY_MS, flow.expiresAt),
      })
    })
    return { is: 'elsewhere', url }
  }

  /**
   * The flow that a browser comes back to, and who the provider says it is. Whatever is wrong with
   * the way itself is a refusal; what the provider answered may still be a complaint of the flow.
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
    // Of one that a program began, nobody knows in whose browser it ends.
    const isOwnBrowser = trip.browserHash !== null
    return { flow, isOwnBrowser, arrival: () => arrive(trip, params, state) }
  }

  /** One that does not fit is left for the browser and the provider that it belongs to. */
  function take(stateHash: string, provider: AnyProvider, { browserHash }: Client) {
    const trip = store.roundTrips.find(stateHash)
    const isTheirs = trip && trip.provider === provider && isOfBrowser(trip, browserHash)
    if (!isTheirs || clock.now() >= trip.expiresAt) return undefined
    return store.roundTrips.take(stateHash)
  }

  async function arrive(trip: RoundTripRow, params: URLSearchParams, state: string) {
    const { provider, stateHash } = trip
    const secrets: RoundTripSecrets = JSON.parse(
      sealing.open(PURPOSE, placeOf({ stateHash }), trip.secrets),
    )
    const redirectUri = callbackUrl(provider)
    return asComplaints(provider, () =>
      social.complete(provider, { redirectUri, params, state, secrets }),
    )
  }

  /** What went wrong there is said on the page of the flow; what it was is for the log. */
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
  'this way back from a provider is not known here, was used before, or took too long',
)

const LONGEST = 200

/** Wishes for the provider, such as whom to ask for; what it may be is for the provider's part. */
const upstreamIn = (input: Submission): Record<string, string> =>
  Object.fromEntries(
    Object.entries(input.object('upstream_parameters')).filter(
      (entry): entry is [string, string] =>
        typeof entry[1] === 'string' && entry[1].length <= LONGEST,
    ),
  )
