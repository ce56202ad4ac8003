import { and, eq, sql } from 'drizzle-orm'
import type { Db } from '../../db/open.ts'
import { deliveries, messages } from '../schema.ts'
import type { Stream } from '../stream.ts'
import type { DisabledReason } from './endpoints.ts'

/** Part of the order of all messages: from behind one place up to another. */
export type TimeRange = { after: number; upTo: number }

/** Something that was published, with what was said of it. */
export interface EventRow {
  id: string
  type: string
  payload: string
  acceptedAt: number
}

/** An endpoint that takes nothing, or not all of what it should. */
export interface TroubledEndpoint {
  id: string
  url: string
  /** When the trouble began, or was last seen to. */
  since: number
  /** Since the first failed attempt behind the last success; null for one that was switched off. */
  failingSince: number | null
  failedAttempts: number | null
  disabledReason: DisabledReason | null
}

export interface Address {
  id: string
  url: string
}

/** Counted of one stretch; by then a picture says enough. */
export const MAX_COUNTED = 10_000

/**
 * What somebody sees at a glance of a stream. Each look is at a bounded number of rows of an index.
 * The plus before each parameter keeps SQLite from planning anew: db/open.ts.
 */
export function createReadModel({ client, orm }: Db) {
  type InStream = { tenantId: string; stream: string }
  const inStream = 'tenant_id = +$tenantId and stream = +$stream'

  const newest = client.prepare<EventRow, InStream & { limit: number }>(`
    select id, type, payload, accepted_at as acceptedAt from messages
    where ${inStream} order by seq desc limit +$limit`)
  const about = client.prepare<EventRow, { tenantId: string; about: string; limit: number }>(`
    select id, type, payload, accepted_at as acceptedAt from messages
    where tenant_id = +$tenantId and about = +$about and about is not null
    order by seq desc limit +$limit`)
  const $ = sql.placeholder
  const countOfType = orm
    .select({ count: sql<number>`count(*)` })
    .from(
      orm
        .select({ seq: messages.seq })
        .from(messages)
        .where(
          and(
            eq(messages.tenantId, $('tenantId')),
            eq(messages.stream, $('stream')),
            eq(messages.type, $('type')),
            sql`${messages.seq} > ${$('after')}`,
            sql`${messages.seq} <= ${$('upTo')}`,
          ),
        )
        .limit($('limit'))
        .as('some'),
    )
    .prepare()
  const countOfDeliveries = orm
    .select({ count: sql<number>`count(*)` })
    .from(
      orm
        .select({ seq: deliveries.seq })
        .from(deliveries)
        .where(
          and(
            eq(deliveries.tenantId, $('tenantId')),
            eq(deliveries.stream, $('stream')),
            sql`${deliveries.seq} > ${$('after')}`,
            sql`${deliveries.seq} <= ${$('upTo')}`,
          ),
        )
        .limit($('limit'))
        .as('some'),
    )
    .prepare()
  const lastDelivery = client.prepare<{ seq: number }, { messageSeq: number }>(`
    select max(seq) as seq from deliveries where message_seq = (
      select message_seq from deliveries where message_seq <= +$messageSeq
      order by message_seq desc limit 1)`)
  const troubled = client.prepare<TroubledEndpoint, InStream>(`
    select e.id, e.url, coalesce(h.failing_since, e.updated_at) as since,
      h.failing_since as failingSince, h.failed_attempts as failedAttempts,
      e.disabled_reason as disabledReason
    from endpoints e left join endpoint_health h on h.endpoint_id = e.id
    where e.${inStream.replace('stream', 'e.stream')} and e.deleted_at is null
      and iif(e.is_active, h.failing_since is not null, e.disabled_reason <> 'manual')`)
  const addresses = client.prepare<Address, InStream>(`
    select id, url from endpoints where ${inStream} and deleted_at is null order by seq desc`)

  const of = ({ tenantId, name }: Stream): InStream => ({ tenantId, stream: name })

  return {
    /** The newest first. */
    newest: (stream: Stream, limit: number): EventRow[] => newest.all({ ...of(stream), limit }),
    /** What was said of somebody, in whichever stream, the newest first. */
    about: (tenantId: string, id: string, limit: number): EventRow[] =>
      about.all({ tenantId, about: id, limit }),
    /** Where in the order of all deliveries, which follows that of their messages, a message lies. */
    deliveryPlaceAt: (messageSeq: number): number => lastDelivery.get({ messageSeq })?.seq ?? 0,
    /** Of no more than `limit`. */
    countOfType: (
      stream: Stream,
      type: string,
      { limit = MAX_COUNTED, ...stretch }: TimeRange & { limit?: number },
    ): number => countOfType.get({ ...of(stream), type, ...stretch, limit })?.count ?? 0,
    countOfDeliveries: (stream: Stream, stretch: TimeRange): number =>
      countOfDeliveries.get({ ...of(stream), ...stretch, limit: MAX_COUNTED })?.count ?? 0,
    /** Whose trouble is the latest first. */
    troubled: (stream: Stream): TroubledEndpoint[] =>
      troubled.all(of(stream)).toSorted((one, other) => other.since - one.since),
    /** Of all endpoints, of which there are never more than a tenant may have. */
    addresses: (stream: Stream): Address[] => addresses.all(of(stream)),
  }
}
