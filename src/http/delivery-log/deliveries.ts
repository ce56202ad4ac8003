import { rowsBetween } from '../../db/seq-from.ts'
import type { Delivery as DeliveryLayer } from '../../delivery/index.ts'
import type { DeliveryView } from '../../delivery/store/rows.ts'
import type { Stream } from '../../delivery/stream.ts'
import type { Caller } from '../../platform/caller.ts'
import { type createCursor, type Page, page } from '../../platform/cursor.ts'
import { fail, notFound } from '../../platform/errors.ts'
import type { Metering } from '../../platform/metering/index.ts'
import { restOf, type Window } from '../../platform/scan.ts'
import type { Delivery, DeliveryDetail, Status } from './model.ts'
import { presentDelivery, presentDeliveryDetail, statusOf } from './present.ts'

/** Rows that one page of a filtered list searches. A page may be short, but never slow. */
const MAX_SCANNED = 1000

export type DeliveryLog = ReturnType<typeof createDeliveryLog>

type Cursors = ReturnType<typeof createCursor<'number'>>

interface Scope {
  endpoint_id?: string | undefined
  /** Limit the time of creation. */
  since?: number | undefined
  until?: number | undefined
}

interface DeliveryQuery extends Scope {
  limit: number
  cursor?: string | undefined
  status?: Status | undefined
  /** Oldest first. */
  isAscending?: boolean
}

/** Callers see the deliveries of their stream. Cursors of `cursorsOf` work nowhere else. */
export function createDeliveryLog(parts: {
  delivery: DeliveryLayer
  metering: Metering
  streamOf: (caller: Caller) => Stream
  cursorsOf: (caller: Caller) => Cursors
}) {
  const { delivery, metering, streamOf, cursorsOf } = parts
  const { deliveries, messages, attempts, endpoints } = delivery

  /** Newest first. Filters limit the scan, so a page may be short or empty although more follow. */
  function list(caller: Caller, query: DeliveryQuery): Page<Delivery> {
    const { limit, cursor, status, isAscending } = query
    const window = { ...rowsBetween(deliveries.seqFrom, query), isAscending, limit: limit + 1 }
    const rest = restOf(window, cursorsOf(caller).positionOf(cursor))
    if (status === undefined) return shown(caller, rowsOf(caller, query, rest), limit)
    const most = isIndexed(query) ? limit + 1 : MAX_SCANNED
    const seen = rowsOf(caller, query, { ...rest, limit: most })
    const found = seen.filter((row) => statusOf(row) === status)
    if (found.length > limit || seen.length < most) return shown(caller, found, limit)
    const last = seen.at(-1) as DeliveryView
    return {
      ...shown(caller, found, limit),
      has_more: true,
      next_cursor: cursorsOf(caller).encode(last.seq),
    }
  }

  /** The failed deliveries of a list, counted up to `most`; undefined if that doesn't tell the number. */
  function failedCount(caller: Caller, query: Scope, most: number): number | undefined {
    const range = rowsBetween(deliveries.seqFrom, query)
    const endpointId = query.endpoint_id
    return deliveries.failedCount(streamOf(caller), range, { endpointId, most })
  }

  /** Failed deliveries have their own index. */
  const isIndexed = ({ status, endpoint_id }: DeliveryQuery) =>
    status === 'failed' && endpoint_id === undefined

  function rowsOf(caller: Caller, query: DeliveryQuery, window: Window): DeliveryView[] {
    const stream = streamOf(caller)
    if (isIndexed(query)) return deliveries.failed(stream, window)
    if (query.endpoint_id === undefined) return deliveries.all(stream, window)
    return deliveries.ofEndpoint(stream, query.endpoint_id, window)
  }

  function ofMessage(
    caller: Caller,
    messageId: string,
    { limit, cursor }: Pick<DeliveryQuery, 'limit' | 'cursor'>,
  ): Page<Delivery> {
    const stream = streamOf(caller)
    const before = cursorsOf(caller).positionOf(cursor)
    const message = messages.find(stream, messageId) ?? fail(notFound('message not found'))
    const rows = deliveries.ofMessage(stream, message.seq, { before, limit: limit + 1 })
    return shown(caller, rows, limit)
  }

  function shown(caller: Caller, rows: DeliveryView[], limit: number): Page<Delivery> {
    const listed = page(rows, limit, ({ seq }) => cursorsOf(caller).encode(seq))
    return {
      ...listed,
      data: listed.data.map((row) => presentDelivery(row, isActive(caller, row))),
    }
  }

  function get(caller: Caller, id: string): DeliveryDetail {
    const row = deliveries.find(streamOf(caller), id) ?? fail(notFound('delivery not found'))
    const message =
      messages.atSeq(caller.tenantId, row.messageSeq) ?? fail(notFound('delivery not found'))
    const log = attempts.ofDelivery(caller.tenantId, row.seq)
    return presentDeliveryDetail(row, isActive(caller, row), message, log)
  }

  /** Counts as new work, because otherwise a single event could be sent without limit. */
  async function resend(caller: Caller, id: string): Promise<Delivery> {
    deliveries.find(streamOf(caller), id) ?? fail(notFound('delivery not found'))
    metering.reserve(caller)
    const row = await delivery.resend(streamOf(caller), caller.actor, id)
    return presentDelivery(row, true)
  }

  async function cancel(caller: Caller, id: string): Promise<Delivery> {
    const row = await delivery.cancel(streamOf(caller), caller.actor, id)
    return presentDelivery(row, isActive(caller, row))
  }

  const isActive = ({ tenantId }: Caller, { endpointId }: DeliveryView): boolean =>
    endpoints.isActive(tenantId, endpointId)

  return { list, failedCount, ofMessage, get, resend, cancel }
}
