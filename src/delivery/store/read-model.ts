import { and, eq, sql } from 'drizzle-orm'
import type { Db } from '../../db/open.ts'
import { END, type Window } from '../../platform/scan.ts'
import { deliveries, messages } from '../schema.ts'
import type { Stream } from '../stream.ts'
import type { DisabledReason } from './endpoints.ts'

/** A range in the order of all messages: after one position, up to and including another. */
export type TimeRange = { after: number; upTo: number }

/** A person that events are about. */
type About = { tenantId: string; about: string }

/** A published event with its payload. */
export interface EventRow {
  seq: number
  id: string
  type: string
  payload: string
  acceptedAt: number
}

/** An endpoint that receives nothing, or not everything it should. */
export interface FailingEndpoint {
  id: string
  url: string
  /** When the problem began or was last seen. */
  since: number
  /** Time of the first failed attempt since the last success; null for a disabled endpoint. */
  failingSince: number | null
  failedAttempts: number | null
  disabledReason: DisabledReason | null
}

export interface Address {
  id: string
  url: string
}

/** The most rows counted in one range, which is enough for a chart. */
export const MAX_COUNTED = 10_000

/** Bounded queries for pages. `+` keeps SQLite from planning again: see db/statements.ts. */
export function createReadModel({ client, orm }: Db) {
  const inStream = 'tenant_id = +$tenantId and stream = +$name'

  const newest = client.prepare<EventRow, Stream & { limit: number }>(`
    select seq, id, type, payload, accepted_at as acceptedAt from messages
    where ${inStream} order by seq desc limit +$limit`)
  const about = client.prepare<EventRow, About & { before: number; after: number; limit: number }>(`
    select seq, id, type, payload, accepted_at as acceptedAt from messages
    where tenant_id = +$tenantId and about = +$about and about is not null
      and seq < +$before and seq > +$after order by seq desc limit +$limit`)
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
            eq(messages.stream, $('name')),
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
            eq(deliveries.stream, $('name')),
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
  const failing = client.prepare<FailingEndpoint, Stream>(`
    select e.id, e.url, coalesce(h.failing_since, e.updated_at) as since,
      h.failing_since as failingSince, h.failed_attempts as failedAttempts,
      e.disabled_reason as disabledReason
    from endpoints e left join endpoint_health h on h.endpoint_id = e.id
    where e.${inStream.replace('stream', 'e.stream')} and e.deleted_at is null
      and iif(e.is_active, h.failing_since is not null, e.disabled_reason <> 'manual')`)
  const addresses = client.prepare<Address, Stream>(`
    select id, url from endpoints where ${inStream} and deleted_at is null order by seq desc`)

  return {
    /** The newest events first. */
    newest: (stream: Stream, limit: number): EventRow[] => newest.all({ ...stream, limit }),
    /** Events about a person in any stream, newest first. */
    about: (of: About, { before = END, after = 0, limit }: Window): EventRow[] =>
      about.all({ ...of, before, after, limit }),
    /**
     * The position of a message among all deliveries, which have the same order as their messages.
     */
    deliverySeqAt: (messageSeq: number): number => lastDelivery.get({ messageSeq })?.seq ?? 0,
    /** The number of events of a type, counted up to `limit`. */
    countOfType: (
      stream: Stream,
      type: string,
      { limit = MAX_COUNTED, ...range }: TimeRange & { limit?: number },
    ): number => countOfType.get({ ...stream, type, ...range, limit })?.count ?? 0,
    countOfDeliveries: (stream: Stream, range: TimeRange): number =>
      countOfDeliveries.get({ ...stream, ...range, limit: MAX_COUNTED })?.count ?? 0,
    /** The endpoint with the most recent problem first. */
    failing: (stream: Stream): FailingEndpoint[] =>
      failing.all(stream).toSorted((one, other) => other.since - one.since),
    /** The endpoints of a stream. Their number is bounded by the limit per stream. */
    addresses: (stream: Stream): Address[] => addresses.all(stream),
  }
}
