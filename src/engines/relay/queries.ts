import { HEALTHY } from '../../delivery/health.ts'
import type { Delivery } from '../../delivery/index.ts'
import { filterOf, matchOf } from '../../delivery/matching.ts'
import type { EndpointSummaryRow, ReplayRest } from '../../delivery/store/endpoint-summaries.ts'
import type { Stream } from '../../delivery/stream.ts'
import type { Caller } from '../../platform/caller.ts'
import { type Clock, isoOrNull, isoTime } from '../../platform/clock.ts'
import { DAY_MS, MINUTE_MS } from '../../platform/durations.ts'
import { builtInType } from './built-in-types.ts'
import type { Endpoint, Stats } from './model/endpoints.ts'
import { presentHealth, presentStats } from './present.ts'
import { streamOf } from './stream.ts'

/** An endpoint as lists show it. Nothing in it had to be decrypted. */
export type EndpointStats = Pick<
  Endpoint,
  | 'id'
  | 'url'
  | 'description'
  | 'event_types'
  | 'channels'
  | 'active'
  | 'disabled_reason'
  | 'health'
>

/** The backlog of an endpoint that doesn't receive everything immediately. */
export interface Waiting {
  next_attempt_at: string | null
  /** Counted up to `MAX_COUNTED`. */
  held: number
}

/** The attempts at all endpoints of a caller in one hour. */
export type HourSum = Pick<Stats['data'][number], 'hour' | 'succeeded' | 'failed'>

/** The most deliveries counted for one number; above that the exact count doesn't matter. */
export const MAX_COUNTED = 1000
/** The most deliveries of a replay counted per request. */
export const REPLAY_COUNTED = 5000

/** The most deliveries searched for one with an attempt. */
const MAX_TRIED_SCANNED = 100

/** With more endpoints than this, sums cost too much to compute for every page. */
const ENDPOINTS_SUMMED = 200
/** How long sums are cached for streams with many endpoints. A chart of a day hardly changes in this time. */
const SUM_KEPT_MS = MINUTE_MS

/** Endpoints as pages list them or monitor one. */
export function createQueries(parts: { delivery: Delivery; clock: Clock }) {
  const { delivery, clock } = parts
  /** Newest first. Their number is bounded by the limit per stream. */
  const all = (caller: Caller): EndpointStats[] =>
    delivery.endpointSummaries.all(streamOf(caller)).map(presentSummary)

  /** The last day of one of the caller's endpoints, by hour. */
  const dayOf = ({ id }: Pick<Endpoint, 'id'>): Stats['data'] =>
    presentStats(delivery.hours.between(id, clock.now() - DAY_MS, clock.now() + 1)).data

  /** The last day of all endpoints together, by hour. */
  const dayOfAll = createSums<HourSum[]>(clock, 1000, (stream, since) =>
    delivery.endpointSummaries
      .hourSums(stream, since)
      .map((row) => ({ ...row, hour: isoTime(row.hour) })),
  )

  /** The last day of each endpoint, as a single row; of those with attempts. */
  const dayOfEach = createSums<ReadonlyMap<string, Stats['data']>>(clock, 20, (stream, since) => {
    const rows = delivery.endpointSummaries.daySums(stream, since)
    return new Map(rows.map((row) => [row.endpointId, presentStats([row]).data]))
  })

  /** For the caller's endpoints. While a breaker is open, the next attempt is its trial. */
  function waitingFor({ id, active, health }: EndpointStats): Waiting {
    const held = delivery.endpointSummaries.held(id, MAX_COUNTED)
    const retry = active
      ? (health.open_until ?? isoOrNull(delivery.endpointSummaries.nextRetry(id)))
      : null
    return { next_attempt_at: retry, held }
  }

  /** A recent delivery showing why the endpoint fails; undefined if a short search finds none. */
  const lastTriedAt = ({ id }: Pick<Endpoint, 'id'>): string | undefined =>
    delivery.endpointSummaries.lastTried(id, MAX_TRIED_SCANNED)

  /** What a replay to one of the caller's endpoints has yet to send, as far as it is counted. */
  const replayRest = (caller: Caller, id: string): ReplayRest =>
    delivery.endpointSummaries.replayRest(caller.tenantId, id, REPLAY_COUNTED)

  return { all, dayOf, dayOfAll, dayOfEach, waitingFor, lastTriedAt, replayRest }
}

/** Sums over the last day of a caller's `count` endpoints. Those of many are kept for up to `most` callers. */
function createSums<Sums>(
  clock: Clock,
  most: number,
  read: (stream: Stream, since: number) => Sums,
) {
  const kept = new Map<string, { at: number; sums: Sums }>()
  return (caller: Caller, count: number): Sums => {
    const now = clock.now()
    const stream = streamOf(caller)
    const name = `${stream.tenantId} ${stream.name}`
    const known = kept.get(name)
    if (count > ENDPOINTS_SUMMED && known && now - known.at < SUM_KEPT_MS) return known.sums
    const sums = read(stream, now - DAY_MS)
    if (kept.size >= most) kept.clear()
    if (count > ENDPOINTS_SUMMED) kept.set(name, { at: now, sums })
    return sums
  }
}

/** Whether an endpoint subscribes to messages of a type and channel. If one is omitted, any matches. */
export function hears(
  { event_types: eventTypes, channels }: Pick<EndpointStats, 'event_types' | 'channels'>,
  message: { type?: string | undefined; channel?: string | undefined },
): boolean {
  const { type, channel } = message
  if (channel !== undefined && channels.length > 0 && !channels.includes(channel)) return false
  return (
    type === undefined ||
    matchOf(
      { eventTypes, channels: [] },
      { type, channels: [], isOperational: builtInType('live', type) !== undefined },
    ) === 'matches'
  )
}

function presentSummary(row: EndpointSummaryRow): EndpointStats {
  const { eventTypes, channels } = filterOf(row)
  const isActive = row.isActive === 1
  const health =
    isActive && row.failures !== null
      ? {
          ...HEALTHY,
          failures: row.failures,
          openUntil: row.openUntil,
          window: row.window,
          failingSince: row.failingSince,
        }
      : HEALTHY
  return {
    id: row.id,
    url: row.url,
    description: row.description,
    event_types: eventTypes,
    channels,
    active: isActive,
    disabled_reason: row.disabledReason,
    health: presentHealth(health),
  }
}
