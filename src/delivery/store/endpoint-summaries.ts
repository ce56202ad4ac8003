import type { Db } from '../../db/open.ts'
import { HOUR_MS } from '../../platform/durations.ts'
import type { Stream } from '../stream.ts'
import type { HourRow } from './hours.ts'
import type { DeliveryRow } from './rows.ts'

/** An endpoint with its health, without sealed data. */
export interface EndpointSummaryRow {
  id: string
  url: string
  description: string
  eventTypes: string | null
  channels: string
  isActive: number
  disabledReason: 'manual' | 'gone' | 'failing' | null
  failures: number | null
  openUntil: number | null
  window: number | null
  failingSince: number | null
}

/** The attempts of all endpoints of a stream in one hour. */
export interface HourSum {
  hour: number
  succeeded: number
  failed: number
}

/** The newest delivery of an endpoint. */
export type LatestDelivery = Pick<DeliveryRow, 'endpointId' | 'state' | 'tries' | 'createdAt'>

/** The pending deliveries of one endpoint, as far as they were counted. */
export interface ReplayRest {
  /** Pending deliveries of the replay. */
  left: number
  /** Pending deliveries of any kind; equals the requested maximum if there are more. */
  seen: number
}

/** Decrypts nothing, so many are cheap. Callers that pass only an endpoint id check its tenant. */
export function createEndpointSummaries({ client }: Db) {
  const all = client.prepare<EndpointSummaryRow, Stream>(
    `select e.id, e.url, e.description, e.event_types as eventTypes, e.channels,
        e.is_active as isActive, e.disabled_reason as disabledReason, h.failures,
        h.open_until as openUntil, h.window, h.failing_since as failingSince
      from endpoints e left join endpoint_health h on h.endpoint_id = e.id
      where e.tenant_id = +$tenantId and e.stream = +$name and e.deleted_at is null
      order by e.seq desc`,
  )
  const hourSums = client.prepare<HourSum, Stream & { since: number }>(
    `select h.hour, sum(h.succeeded) as succeeded, sum(h.failed) as failed
      from endpoints e cross join endpoint_hours h on h.endpoint_id = e.id
      where e.tenant_id = +$tenantId and e.stream = +$name and e.deleted_at is null
        and h.hour >= +$since
      group by h.hour`,
  )
  const daySums = client.prepare<HourRow, Stream & { since: number }>(
    `select e.id as endpointId, max(h.hour) as hour, sum(h.succeeded) as succeeded,
        sum(h.failed) as failed, sum(h.exhausted) as exhausted, sum(h.cancelled) as cancelled,
        sum(h.duration_ms) as durationMs, max(h.slowest_ms) as slowestMs,
        sum(h.up_to_100) as upTo100, sum(h.up_to_300) as upTo300,
        sum(h.up_to_1000) as upTo1000, sum(h.up_to_3000) as upTo3000
      from endpoints e cross join endpoint_hours h on h.endpoint_id = e.id
      where e.tenant_id = +$tenantId and e.stream = +$name and e.deleted_at is null
        and h.hour >= +$since
      group by e.seq`,
  )
  const latest = client.prepare<LatestDelivery, Stream>(
    `select d.endpoint_id as endpointId, d.state, d.tries, d.created_at as createdAt
      from endpoints e cross join deliveries d
        on d.seq = (select seq from deliveries where endpoint_id = e.id order by seq desc limit 1)
      where e.tenant_id = +$tenantId and e.stream = +$name and e.deleted_at is null`,
  )
  const nextRetry = client.prepare<{ at: number }, { endpointId: string }>(
    `select due_at as at from deliveries where state = 'waiting' and endpoint_id = +$endpointId
      order by due_at limit 1`,
  )
  const held = client.prepare<{ count: number }, { endpointId: string; most: number }>(
    `select count(*) as count from (
        select 1 from deliveries where state = 'held' and endpoint_id = +$endpointId limit +$most)`,
  )
  const replayRest = client.prepare<
    ReplayRest,
    { tenantId: string; endpointId: string; most: number }
  >(
    `select coalesce(sum(trigger = 'replay'), 0) as left, count(*) as seen from (
        select * from (select trigger from deliveries
          where state = 'waiting' and endpoint_id = +$endpointId limit +$most)
        union all
        select * from (select trigger from deliveries
          where state = 'ready' and line in (0, 1) and tenant_id = +$tenantId
            and endpoint_id = +$endpointId limit +$most)
        union all
        select * from (select trigger from deliveries
          where state = 'held' and endpoint_id = +$endpointId limit +$most))`,
  )
  const lastTried = client.prepare<{ id: string }, { endpointId: string; most: number }>(
    `select id from (
        select * from (select seq as delivery, id, attempts from deliveries
          where state = 'waiting' and endpoint_id = +$endpointId limit +$most)
        union all
        select * from (select seq as delivery, id, attempts from deliveries
          where state = 'held' and endpoint_id = +$endpointId order by due_at, seq limit +$most))
      where attempts > 0
      order by (select max(a.seq) from attempts a where a.delivery_seq = delivery) desc limit 1`,
  )

  return {
    /** Newest first. Their number is bounded by the limit per stream. */
    all: (stream: Stream): EndpointSummaryRow[] => all.all(stream),
    hourSums: ({ tenantId, name }: Stream, since: number): HourSum[] =>
      hourSums.all({ tenantId, name, since: since - (since % HOUR_MS) }),
    /** The hours from a time on of each endpoint, as one row; none for endpoints without attempts. */
    daySums: ({ tenantId, name }: Stream, since: number): HourRow[] =>
      daySums.all({ tenantId, name, since: since - (since % HOUR_MS) }),
    /** The newest delivery of each endpoint that has one. */
    latest: (stream: Stream): LatestDelivery[] => latest.all(stream),
    /** The earliest time for which a delivery waits. */
    nextRetry: (endpointId: string): number | null => nextRetry.get({ endpointId })?.at ?? null,
    /** The number of held deliveries, counted up to `most`. */
    held: (endpointId: string, most: number): number => held.get({ endpointId, most })?.count ?? 0,
    /** The latest attempted delivery among up to `most` of each kind that will be retried. */
    lastTried: (endpointId: string, most: number): string | undefined =>
      lastTried.get({ endpointId, most })?.id,
    /** Counts what a replay has yet to send, among up to `most` deliveries in each state. */
    replayRest: (tenantId: string, endpointId: string, most: number): ReplayRest =>
      replayRest.get({ tenantId, endpointId, most }) ?? { left: 0, seen: 0 },
  }
}
