import type { Delivery } from '../../delivery/index.ts'
import type { SentRow, Stage } from '../../delivery/store/fan-out.ts'
import type { Status } from '../../http/delivery-log/model.ts'
import { statusOf } from '../../http/delivery-log/present.ts'
import type { Caller } from '../../platform/caller.ts'
import { isoOrNull, isoTime } from '../../platform/clock.ts'
import { createCursor, type Page, page } from '../../platform/cursor.ts'
import { fail, notFound } from '../../platform/errors.ts'
import { channelsOf, explain, presentMessageHead } from './explain.ts'
import type { EndpointOutcome, MessageDetail } from './model/messages.ts'
import { environmentOf, ownList, streamOf } from './stream.ts'

/** One delivery of a message with the URL of its endpoint. */
export interface SentSummary {
  id: string
  endpoint_id: string
  /** Null if the endpoint is deleted. */
  url: string | null
  status: Status
  attempts: number
  next_attempt_at: string | null
  created_at: string
  ended_at: string | null
}

/** A message with one page of its deliveries and one of the endpoints without a delivery. */
export interface FanOut {
  message: Omit<MessageDetail, 'payload' | 'endpoints'>
  /** Exactly as sent. */
  payload: string
  /** The number of deliveries in each stage. */
  counts: Record<Stage, number>
  sent: Page<SentSummary>
  /** The number of endpoints without a delivery of the message. */
  unreachedCount: number
  unreached: Page<EndpointOutcome>
}

interface Asked {
  limit: number
  stage?: Stage | undefined
  /** The page of deliveries; `otherCursor` is that of the endpoints without a delivery. */
  cursor?: string | undefined
  otherCursor?: string | undefined
}

const FROM_THE_FIRST = [-1, 0] as const

/** Where a message went and where not. With up to a thousand endpoints, issues come first. */
export function createFanOuts({ delivery }: { delivery: Delivery }) {
  const sentCursors = (caller: Caller, id: string) =>
    createCursor(ownList(caller, `deliveries of ${id}`), ['number', 'number'])
  const otherCursors = (caller: Caller, id: string) =>
    createCursor(ownList(caller, `endpoints without ${id}`))

  return (caller: Caller, id: string, { limit, stage, cursor, otherCursor }: Asked): FanOut => {
    const stream = streamOf(caller)
    const row = delivery.messages.find(stream, id) ?? fail(notFound('message not found'))
    const cursors = sentCursors(caller, id)
    const others = otherCursors(caller, id)
    const sent = delivery.fanOut.sent(caller.tenantId, row.seq, {
      after: cursors.positionOf(cursor) ?? FROM_THE_FIRST,
      stage,
      limit: limit + 1,
    })
    const unreached = delivery.fanOut.unreached(stream, row.seq, {
      after: others.positionOf(otherCursor) ?? 0,
      limit: limit + 1,
    })
    const sentPage = page(sent, limit, (last) => cursors.encode([last.stage, last.seq]))
    const otherPage = page(unreached, limit, ({ seq }) => others.encode(seq))
    const isSandbox = environmentOf(caller) === 'test'
    const why = (endpoint: (typeof unreached)[number]) =>
      explain(delivery.unreached(endpoint, row, isSandbox), row.type, channelsOf(row))
    return {
      message: presentMessageHead(row),
      payload: row.payload,
      counts: delivery.fanOut.counts(caller.tenantId, row.seq),
      sent: { ...sentPage, data: sentPage.data.map(presentSent) },
      unreachedCount: delivery.fanOut.unreachedCount(stream, row.seq),
      unreached: { ...otherPage, data: otherPage.data.map(why) },
    }
  }
}

const presentSent = (row: SentRow): SentSummary => ({
  id: row.id,
  endpoint_id: row.endpointId,
  url: row.url,
  status: statusOf(row),
  attempts: row.attempts,
  next_attempt_at: row.state === 'waiting' || row.state === 'ready' ? isoTime(row.dueAt) : null,
  created_at: isoTime(row.createdAt),
  ended_at: isoOrNull(row.endedAt),
})
