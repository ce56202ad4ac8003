import { addressOf, type Filter, filterOf, matchOf } from './matching.ts'
import type { SelfTest } from './self-test.ts'
import type { EndpointSummary } from './store/endpoints.ts'
import type { Store } from './store/index.ts'
import type { MessageRow } from './store/messages.ts'
import type { DeliveryView } from './store/rows.ts'
import type { Stream } from './stream.ts'

/** More than the endpoints that one message can have gone to, deleted ones included. */
const MAX_OUTCOMES = 2000

/** Why an endpoint has no delivery of a message. Deliveries have a state instead. */
type WhyNot = 'event_type' | 'channels' | 'own' | 'later' | 'sandbox' | 'not_sent' | 'forgotten'

/** The outcome of a message for one endpoint. */
export type MessageOutcome = { endpointId: string; endpoint: EndpointSummary | null } & (
  | { delivery: DeliveryView; whyNot: null }
  /** `matchesNow`: the current filter matches the message, so a replay sends it. */
  | { delivery: null; whyNot: WhyNot; filter: Filter | null; matchesNow: boolean }
)

/**
 * Looks up a message's outcomes: for each endpoint of its stream, and each deleted one with a
 * delivery, the delivery or why there is none, by the filter at that time.
 */
export function createMessageOutcomes({ store, selfTest }: { store: Store; selfTest: SelfTest }) {
  function outcomesOf(stream: Stream, message: MessageRow, isSandbox: boolean): MessageOutcome[] {
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

  /** The outcome for an endpoint without a delivery of the message. */
  function unreached(
    endpoint: EndpointSummary,
    message: MessageRow,
    isSandbox: boolean,
  ): MessageOutcome {
    const row = store.endpoints.filterAt(endpoint.id, message.seq)
    const filter = row ? filterOf(row) : null
    const whyNot = filter
      ? whyNotBy(filter, endpoint, message, isSandbox)
      : withoutFilter(endpoint, message)
    const matchesNow = !isSandbox && resultOf(filterOf(endpoint), endpoint, message) === 'matches'
    return { endpointId: endpoint.id, endpoint, delivery: null, whyNot, filter, matchesNow }
  }

  /** The filter at that time is unknown: the endpoint is newer or has changed too often since. */
  const withoutFilter = ({ id, createdAt }: EndpointSummary, { acceptedAt }: MessageRow): WhyNot =>
    createdAt <= acceptedAt && store.endpoints.hasForgotten(id) ? 'forgotten' : 'later'

  function whyNotBy(
    filter: Filter,
    endpoint: EndpointSummary,
    message: MessageRow,
    isSandbox: boolean,
  ): WhyNot {
    const result = resultOf(filter, endpoint, message)
    if (result !== 'matches') return result
    return isSandbox ? 'sandbox' : 'not_sent'
  }

  const resultOf = (filter: Filter, endpoint: EndpointSummary, message: MessageRow) =>
    selfTest(message.tenantId, message)(endpoint, matchOf(filter, addressOf(message)))

  return { outcomesOf, unreached }
}
