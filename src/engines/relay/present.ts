import { maskHeaders } from '../../delivery/custom-headers.ts'
import type { Endpoint as EndpointRecord } from '../../delivery/endpoint-cache.ts'
import { HEALTHY, type Health } from '../../delivery/health.ts'
import type { HourRow } from '../../delivery/store/hours.ts'
import type { MessageHead } from '../../delivery/store/messages.ts'
import { isoOrNull, isoTime } from '../../platform/clock.ts'
import { type BuiltInType, builtInType } from './built-in-types.ts'
import type { DatedDrift } from './catalog.ts'
import type { Endpoint, Stats } from './model/endpoints.ts'
import type { EventTypeDetail, EventTypeSeen } from './model/event-types.ts'
import type { Message } from './model/messages.ts'
import { asShape, toJsonSchema } from './shape/index.ts'
import type { EventTypeRow } from './store/event-types.ts'

export const presentMessage = ({ id, type, acceptedAt }: Omit<MessageHead, 'seq'>): Message => ({
  id,
  event_type: type,
  status: 'accepted',
  timestamp: isoTime(acceptedAt),
})

export const presentEndpoint = (row: EndpointRecord, health: Health): Endpoint => ({
  id: row.id,
  url: row.url,
  description: row.description,
  event_types: row.eventTypes,
  channels: row.channels,
  format: row.format,
  headers: maskHeaders(row.headers),
  active: row.isActive,
  disabled_reason: row.disabledReason,
  health: presentHealth(row.isActive ? health : HEALTHY),
  created_at: isoTime(row.createdAt),
  updated_at: isoTime(row.updatedAt),
})

export const presentHealth = ({ openUntil, window, failures, failingSince }: Health) => ({
  breaker: breakerOf(openUntil, window),
  open_until: isoOrNull(openUntil),
  failures_in_a_row: failures,
  failing_since: isoOrNull(failingSince),
})

function breakerOf(openUntil: number | null, window: number | null) {
  if (openUntil !== null) return 'open' as const
  return window === null ? ('closed' as const) : ('recovering' as const)
}

export const presentStats = (rows: HourRow[]): Stats => ({
  data: rows.map((row) => ({
    hour: isoTime(row.hour),
    succeeded: row.succeeded,
    failed: row.failed,
    exhausted: row.exhausted,
    cancelled: row.cancelled,
    average_ms: averageOf(row),
    slowest_ms: row.slowestMs,
    up_to_100_ms: row.upTo100,
    up_to_300_ms: row.upTo300,
    up_to_1000_ms: row.upTo1000,
    up_to_3000_ms: row.upTo3000,
  })),
})

function averageOf({ succeeded, failed, durationMs }: HourRow): number | null {
  const attempts = succeeded + failed
  return attempts === 0 ? null : Math.round(durationMs / attempts)
}

/** Events that a tenant sends with a built-in type don't change it. */
const driftOf = (row: EventTypeRow): DatedDrift[] => (builtInOf(row) ? [] : JSON.parse(row.drift))

const builtInOf = ({ environment, name }: EventTypeRow) => builtInType(environment, name)

export const presentEventType = (row: EventTypeRow): EventTypeSeen => ({
  name: row.name,
  first_seen_at: isoTime(row.firstSeenAt),
  last_seen_at: isoTime(row.lastSeenAt),
  count: row.count,
  breaking_changes: driftOf(row).filter(({ breaking }) => breaking).length,
  built_in: builtInOf(row) !== undefined,
})

/** An event type without its sample. */
export function presentEventTypeDetail(row: EventTypeRow): Omit<EventTypeDetail, 'sample'> {
  const shape = asShape(row.shape)
  return { ...presentEventType(row), schema: shape ? toJsonSchema(shape) : {}, drift: driftOf(row) }
}

/** A built-in event type without its example; `row` is undefined before its first event. */
export const presentBuiltIn = (
  name: string,
  { schema }: BuiltInType,
  row: EventTypeRow | undefined,
): Omit<EventTypeDetail, 'sample'> => ({
  ...(row
    ? presentEventType(row)
    : {
        name,
        first_seen_at: null,
        last_seen_at: null,
        count: 0,
        breaking_changes: 0,
        built_in: true,
      }),
  schema,
  drift: [],
})
