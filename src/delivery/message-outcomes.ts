import { type Filter, filterOf, type MatchResult, matchOf } from './matching.ts'
import type { EndpointSummary } from './store/endpoints.ts'
import type { Store } from './store/index.ts'
import type { MessageRow } from './store/messages.ts'
import type { DeliveryView } from './store/rows.ts'
import type { Stream } from './stream.ts'

/** More than a message can have gone to: endpoints that there are, and some that there were. */
const MAX_OUTCOMES = 2000

/** Why a message did or did not go to an endpoint; `delivery` has its own state. */
type WhyNot = 'event_type' | 'channels' | 'later' | 'sandbox' | 'not_sent' | 'forgotten'

/** What became of a message at one endpoint. */
export type MessageOutcome = { endpointId: string; endpoint: EndpointSummary | null } & (
  | { delivery: DeliveryView; whyNot: null }
  /** `matchesNow`: with its present filter it would be for the endpoint, and a replay sends it. */
  | { delivery: null; whyNot: WhyNot; filter: Filter | null; matchesNow: boolean }
)

/**
 * For each endpoint of a message's stream, deleted ones included where they had a delivery:
 * what became of it, or why it never was to go there, judged by the filter of that time.
 */
export function createMessageOutcomes({ store }: { store: Store }) {
  function verdicts(stream: Stream, message: MessageRow, isSandbox: boolean): MessageOutcome[] {
    const endpoints = store.endpoints.list(stream)
    const deliveries = store.deliveries.ofMessage(stream, message.seq, { limit: MAX_OUTCOMES })
    const reached = new Set(deliveries.map(({ endpointId }) => endpointId))
    const known = new Map(endpoints.map((endpoint) => [endpoint.id, endpoint]))
    return [
      ...deliveries.map((delivery) => ({
        endpointId: delivery.endpointId,
        endpoint: known.get(delivery.endpointId) ?? null,
        delivery,
        whyNot: null,
      })),
      ...endpoints
        .filter(({ id }) => !reached.has(id))
        .map((endpoint) => unreached(endpoint, message, isSandbox)),
    ]
  }

  /** For an endpoint without a delivery of the message. */
  function unreached(
    endpoint: EndpointSummary,
    message: MessageRow,
    isSandbox: boolean,
  ): MessageOutcome {
    const row = store.endpoints.filterAt(endpoint.id, message.seq)
    const filter = row ? filterOf(row) : null
    const whyNot = filter ? whyNotBy(filter, message, isSandbox) : withoutFilter(endpoint, message)
    const matchesNow = !isSandbox && addresses(filterOf(endpoint), message) === 'matches'
    return { endpointId: endpoint.id, endpoint, delivery: null, whyNot, filter, matchesNow }
  }

  /** The endpoint is younger than the message, or has changed too often since to tell. */
  const withoutFilter = ({ id, createdAt }: EndpointSummary, { acceptedAt }: MessageRow): WhyNot =>
    createdAt <= acceptedAt && store.endpoints.hasForgotten(id) ? 'forgotten' : 'later'

  return { verdicts, unreached }
}

function whyNotBy(filter: Filter, message: MessageRow, isSandbox: boolean): WhyNot {
  const verdict = addresses(filter, message)
  if (verdict !== 'matches') return verdict
  return isSandbox ? 'sandbox' : 'not_sent'
}

const addresses = (filter: Filter, { type, channels }: MessageRow): MatchResult =>
  matchOf(filter, { type, channels: channels === null ? [] : JSON.parse(channels) })
