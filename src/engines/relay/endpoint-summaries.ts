import { HEALTHY } from '../../delivery/health.ts'
import type { Delivery } from '../../delivery/index.ts'
import { filterOf, matchOf } from '../../delivery/matching.ts'
import type { EndpointSummaryRow, ReplayRest } from '../../delivery/store/endpoint-summaries.ts'
import type { Caller } from '../../platform/caller.ts'
import { type Clock, isoOrNull, isoTime } from '../../platform/clock.ts'
import { DAY_MS } from '../../platform/durations.ts'
import type { Endpoint, Stats } from './model/endpoints.ts'
import { presentHealth, presentStats } from './present.ts'
import { streamOf } from './stream.ts'

/** An endpoint as lists show it: nothing of it had to be opened. */
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

/** What stands before an endpoint that does not take everything at once. */
export interface Waiting {
  next_attempt_at: string | null
  /** Counted up to `MAX_COUNTED`. */
  held: number
}

/** What all endpoints of a caller did in one hour. */
export type HourSum = Pick<Stats['data'][number], 'hour' | 'succeeded' | 'failed'>

/** Beyond it a number says no more than that there are very many. */
export const MAX_COUNTED = 1000
/** As many of a replay as are counted each time that somebody looks. */
export const REPLAY_COUNTED = 5000

/** Deliveries that one with an attempt is looked for in. */
const TRIED_LOOKED_THROUGH = 100

/** With more endpoints the sum of their hours costs more than a page may. */
const ENDPOINTS_SUMMED = 200
/** For so long it is remembered then: the picture of a day does not change by it. */
const SUM_KEPT_MS = 60_000
const MAX_SUMS = 1000

/** Endpoints as pages show many of them, or watch one. */
export function createEndpointStats(parts: { delivery: Delivery; clock: Clock }) {
  const { delivery, clock } = parts
  const sums = new Map<string, { at: number; hours: HourSum[] }>()

  /** Newest first: there are never more than a tenant may have. */
  const all = (caller: Caller): EndpointStats[] =>
    delivery.endpointSummaries.all(streamOf(caller)).map(presentLook)

  /** The last day of one that the caller has, by the hour. */
  const dayOf = ({ id }: Pick<Endpoint, 'id'>): Stats['data'] =>
    presentStats(delivery.hours.between(id, clock.now() - DAY_MS, clock.now() + 1)).data

  /** The last day of `count` endpoints together, by the hour. */
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

  /** Of an endpoint that the caller has. While its breaker is open, that says when it is tried. */
  function waitingFor({ id, active, health }: EndpointStats): Waiting {
    const held = delivery.endpointSummaries.held(id, MAX_COUNTED)
    const retry = active
      ? (health.open_until ?? isoOrNull(delivery.endpointSummaries.nextRetry(id)))
      : null
    return { next_attempt_at: retry, held }
  }

  /** The delivery that says why an endpoint of the caller fails, as far as one is found at once. */
  const lastTriedAt = ({ id }: Pick<Endpoint, 'id'>): string | undefined =>
    delivery.endpointSummaries.lastTried(id, TRIED_LOOKED_THROUGH)

  /** What a replay to an endpoint that the caller has is still to send, as far as it is counted. */
  const replayRest = (caller: Caller, id: string): ReplayRest =>
    delivery.endpointSummaries.replayRest(caller.tenantId, id, REPLAY_COUNTED)

  return { all, dayOf, dayOfAll, waitingFor, lastTriedAt, replayRest }
}

/** Whether an endpoint listens to such a message; without a type, or a channel, to any. */
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

function presentLook(row: EndpointSummaryRow): EndpointStats {
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
