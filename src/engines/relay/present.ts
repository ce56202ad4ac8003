import { maskHeaders } from '../../delivery/custom-headers.ts'
import type { Endpoint as EndpointRecord } from '../../delivery/directory.ts'
import { bodyOf } from '../../delivery/formats.ts'
import { HEALTHY, type Health } from '../../delivery/health.ts'
import type { Sent } from '../../delivery/send.ts'
import type { HourRow } from '../../delivery/store/hours.ts'
import type { MessageHead, MessageRow } from '../../delivery/store/messages.ts'
import type { AttemptRow, DeliveryRow, DeliveryView } from '../../delivery/store/rows.ts'
import { isoTime } from '../../platform/clock.ts'
import type { DatedDrift } from './catalog.ts'
import type {
  Attempt,
  Delivery,
  DeliveryDetail,
  Endpoint,
  EventTypeDetail,
  EventTypeSeen,
  Message,
  Stats,
  Status,
  TestResult,
} from './model.ts'
import { asShape, toJsonSchema } from './shape/index.ts'
import type { EventTypeRow } from './store/event-types.ts'

const isoOrNull = (ms: number | null) => (ms === null ? null : isoTime(ms))

export const presentMessage = ({ id, type, acceptedAt }: Omit<MessageHead, 'seq'>): Message => ({
  id,
  event_type: type,
  status: 'accepted',
  timestamp: isoTime(acceptedAt),
})

export function statusOf({ state, tries }: Pick<DeliveryRow, 'state' | 'tries'>): Status {
  if (state === 'leased') return 'delivering'
  if (state === 'waiting' || state === 'ready') return tries === 0 ? 'pending' : 'retrying'
  return state
}

/** A held delivery of an endpoint that is active waits for its breaker. */
export const presentDelivery = (row: DeliveryView, endpointIsActive: boolean): Delivery => ({
  id: row.id,
  message_id: row.messageId,
  endpoint_id: row.endpointId,
  event_type: row.eventType,
  status: statusOf(row),
  held_reason: row.state === 'held' ? (endpointIsActive ? 'breaker' : 'inactive') : null,
  run: row.run,
  attempts: row.attempts,
  next_attempt_at: row.state === 'waiting' || row.state === 'ready' ? isoTime(row.dueAt) : null,
  created_at: isoTime(row.createdAt),
  ended_at: isoOrNull(row.endedAt),
})

/** The body of every attempt follows from the message: it is stored, and shown, once. */
export const presentDeliveryDetail = (
  row: DeliveryView,
  endpointIsActive: boolean,
  message: MessageRow,
  attempts: AttemptRow[],
): DeliveryDetail => ({
  ...presentDelivery(row, endpointIsActive),
  request_body: bodyOf(row.format, message),
  attempt_log: attempts.map(presentAttempt),
})

const presentAttempt = (row: AttemptRow): Attempt => ({
  id: row.id,
  run: row.run,
  number: row.number,
  trigger: row.trigger,
  status: row.status,
  started_at: isoTime(row.startedAt),
  duration_ms: row.durationMs,
  timings: row.timings === null ? null : JSON.parse(row.timings),
  address: row.address,
  request:
    row.url === null || row.requestHeaders === null
      ? null
      : { method: 'POST', url: row.url, headers: JSON.parse(row.requestHeaders) },
  response:
    row.responseStatus === null
      ? null
      : {
          status: row.responseStatus,
          headers: JSON.parse(row.responseHeaders ?? '[]'),
          body: row.responseBody ?? '',
        },
  error: row.errorCode === null ? null : { code: row.errorCode, message: row.errorMessage ?? '' },
  next_attempt_at: isoOrNull(row.nextAttemptAt),
})

export const presentTest = (sent: Sent, body: string): TestResult => ({
  succeeded: sent.result === 'succeeded',
  duration_ms: sent.durationMs,
  timings: sent.timings,
  address: sent.address,
  request: sent.request && { method: 'POST', ...sent.request, body },
  response: sent.response,
  error: sent.error,
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

const presentHealth = ({ openUntil, window, failures, failingSince }: Health) => ({
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

const driftOf = ({ drift }: EventTypeRow): DatedDrift[] => JSON.parse(drift)

export const presentEventType = (row: EventTypeRow): EventTypeSeen => ({
  name: row.name,
  first_seen_at: isoTime(row.firstSeenAt),
  last_seen_at: isoTime(row.lastSeenAt),
  count: row.count,
  breaking_changes: driftOf(row).filter(({ breaking }) => breaking).length,
})

/** Without its sample. */
export const presentEventTypeDetail = (row: EventTypeRow): Omit<EventTypeDetail, 'sample'> => {
  const shape = asShape(row.shape)
  return {
    ...presentEventType(row),
    schema: shape ? toJsonSchema(shape) : {},
    drift: driftOf(row),
  }
}
