import { filterOf } from './directory.ts'
import { type Filter, verdictOf } from './matching.ts'
import { type EndpointRow, FILTERS_KEPT } from './store/endpoints.ts'
import type { Store } from './store/index.ts'
import type { MessageRow } from './store/messages.ts'
import type { DeliveryView } from './store/rows.ts'
import type { Stream } from './stream.ts'

/** More than a message can have gone to: endpoints that there are, and some that there were. */
const MOST_FATES = 2000

/** Why a message did or did not go to an endpoint; `delivery` has its own state. */
export type WhyNot = 'event_type' | 'channels' | 'later' | 'sandbox' | 'not_sent'

/** What became of a message at one endpoint. */
export type Fate = { endpointId: string; url: string | null } & (
  | { delivery: DeliveryView; whyNot: null }
  | { delivery: null; whyNot: WhyNot; filter: Filter | null }
)

/**
 * For each endpoint of a message's stream, deleted ones included where they had a delivery:
 * what became of it, or why it never was to go there, judged by the filter of that time.
 */
export function createVerdicts({ store }: { store: Store }) {
  return (stream: Stream, message: MessageRow, isSandbox: boolean): Fate[] => {
    const endpoints = store.endpoints.list(stream)
    const deliveries = store.deliveries.ofMessage(stream, message.seq, { limit: MOST_FATES })
    const reached = new Set(deliveries.map(({ endpointId }) => endpointId))
    const urls = new Map(endpoints.map(({ id, url }) => [id, url]))
    return [
      ...deliveries.map((delivery) => ({
        endpointId: delivery.endpointId,
        url: urls.get(delivery.endpointId) ?? null,
        delivery,
        whyNot: null,
      })),
      ...endpoints
        .filter(({ id }) => !reached.has(id))
        .map((endpoint) => unreached(endpoint, message, isSandbox)),
    ]
  }

  function unreached({ id, url }: EndpointRow, message: MessageRow, isSandbox: boolean): Fate {
    const filters = store.endpoints.filters(id)
    const row = filters.findLast(({ afterSeq }) => afterSeq < message.seq)
    const filter = row ? filterOf(row) : null
    const whyNot = filter ? whyNotBy(filter, message, isSandbox) : withoutFilter(filters.length)
    return { endpointId: id, url, delivery: null, whyNot, filter }
  }
}

/** The endpoint is younger than the message, or has changed too often since to tell. */
const withoutFilter = (kept: number): WhyNot => (kept < FILTERS_KEPT ? 'later' : 'not_sent')

function whyNotBy(filter: Filter, { type, channels }: MessageRow, isSandbox: boolean): WhyNot {
  const named = channels === null ? [] : (JSON.parse(channels) as string[])
  const verdict = verdictOf(filter, { type, channels: named })
  if (verdict !== 'matches') return verdict
  return isSandbox ? 'sandbox' : 'not_sent'
}
