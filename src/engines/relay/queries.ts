import { HEALTHY } from '../../delivery/health.ts'
import type { Delivery } from '../../delivery/index.ts'
import { filterOf, matchOf } from '../../delivery/matching.ts'
import type { EndpointSummaryRow, ReplayRest } from '../../delivery/store/endpoint-summaries.ts'
import type { Caller } from '../../platform/caller.ts'
import { type Clock, isoOrNull, isoTime } from '../../platform/clock.ts'
import { DAY_MS, MINUTE_MS } from '../../platform/durations.ts'
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

/** With more endpoints than this, the hourly sums cost too much to compute for every page. */
const ENDPOINTS_SUMMED = 200
/**
 * How long the totals are cached for streams with many endpoints. A chart of a day hardly changes in this time.
 */
const SUM_KEPT_MS = MINUTE_MS
const MAX_SUMS = 1000

/** Endpoints as pages list them or monitor one. */
export function createQueries(parts: { delivery: Delivery; clock: Clock }) {
  const { delivery, clock } = parts
  const sums = new Map<string, { at: number; hours: HourSum[] }>()

  /** Newest first. Their number is bounded by the limit per stream. */
  const all = (caller: Caller): EndpointStats[] =>
    delivery.endpointSummaries.all(streamOf(caller)).map(presentSummary)

  /** The last day of one of the caller's endpoints, by hour. */
  const dayOf = ({ id }: Pick<Endpoint, 'id'>): Stats['data'] =>
    presentStats(delivery.hours.between(id, clock.now() - DAY_MS, clock.now() + 1)).data

  /** The last day of all `count` endpoints together, by hour. */
  function dayOfAll(caller: Caller, count: number): HourSum[] {
    const now = clock.now()
    const stream = streamOf(caller)
    const name = `${stream.tenantId} ${stream.name}`
    const known = sums.get(name)
    if (count > ENDPOINTS_SUMMED && known && now - known.at < SUM_KEPT_MS) return known.hours
    const hours = delivery.endpointSummaries
      .hourSums(stream, now - DAY_MS)
      .map((row) => ({ ...row, hour: isoTime(row.hour) }))
    if (sums.size >= MAX_SUMS) sums.clear()
    if (count > ENDPOINTS_SUMMED) sums.set(name, { at: now, hours })
    return hours
  }

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

  return { all, dayOf, dayOfAll, waitingFor, lastTriedAt, replayRest }
}

/** Whether an endpoint subscribes to messages of a type and channel. If one is omitted, any matches. */
export function hears(
  { event_types: eventTypes, channels }: EndpointStats,
  message: { type?: string | undefined; channel?: string | undefined },
): boolean {
  const { type, channel } = message
  if (channel !== undefined && channels.length > 0 && !channels.includes(channel)) return false
  return (
    type === undefined ||
    matchOf({ eventTypes, channels: [] }, { type, channels: [] }) === 'matches'
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
