import { bodyOf } from '../../delivery/formats.ts'
import type { Sent } from '../../delivery/send.ts'
import type { MessageRow } from '../../delivery/store/messages.ts'
import type { AttemptRow, DeliveryRow, DeliveryView } from '../../delivery/store/rows.ts'
import { isoOrNull, isoTime } from '../../platform/clock.ts'
import type { Attempt, Delivery, DeliveryDetail, Status, TestResult } from './model.ts'

export function statusOf({ state, tries }: Pick<DeliveryRow, 'state' | 'tries'>): Status {
  if (state === 'leased') return 'delivering'
  if (state === 'waiting' || state === 'ready') return tries === 0 ? 'pending' : 'retrying'
  return state
}

/** The API object of a delivery. One that is held for an active endpoint waits for the breaker. */
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

/** All attempts have the same body, which is stored and shown once. */
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
