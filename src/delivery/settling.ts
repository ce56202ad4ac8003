import type { Audit } from '../platform/audit/index.ts'
import type { Clock } from '../platform/clock.ts'
import { fail } from '../platform/errors.ts'
import type { Log } from '../platform/log.ts'
import type { BulkHold } from './bulk-hold.ts'
import type { CircuitBreaker } from './circuit-breaker.ts'
import type { Ended, EndpointAlerts } from './endpoint-alerts.ts'
import type { EndpointCache } from './endpoint-cache.ts'
import { isHopeless, isOpen } from './health.ts'
import { ATTEMPTS_KEPT } from './limits.ts'
import type { DeliveryEvents } from './metrics.ts'
import { stepAt } from './paused.ts'
import type { Policy, PolicyOf } from './policy.ts'
import type { Sent } from './send.ts'
import type { DisabledReason, EndpointRow } from './store/endpoints.ts'
import type { HourCounts } from './store/hours.ts'
import type { Store } from './store/index.ts'
import type { LeasedDelivery, Step } from './store/rows.ts'
import { stepAfter } from './transitions.ts'
import type { Wake } from './wake.ts'

/** The number of response headers kept, enough to diagnose a failure. */
const KEPT_HEADERS = 100
const KEPT_HEADER_CHARACTERS = 1000

export type Settling = ReturnType<typeof createSettling>

/** Stores an attempt's log entry, the delivery's next state and the endpoint's health. */
export function createSettling(parts: {
  store: Store
  clock: Clock
  log: Log
  audit: Audit
  endpointCache: EndpointCache
  circuitBreaker: CircuitBreaker
  bulkHold: BulkHold
  endpointAlerts: EndpointAlerts
  wake: Wake
  events: DeliveryEvents
  policyOf: PolicyOf
}) {
  const {
    store,
    clock,
    log,
    audit,
    endpointCache,
    circuitBreaker,
    bulkHold,
    endpointAlerts,
    wake,
    events,
    policyOf,
  } = parts

  /** Does nothing if the lease is void, because the attempt was already ended elsewhere. */
  function end(leased: LeasedDelivery, sent: Sent) {
    const row = store.queue.leased(leased)
    if (!row) return
    const receiver = store.endpoints.receiver(row.tenantId, row.endpointId)
    const policy = policyOf(row.stream)
    const next = stepAt(receiver, stepAfter(row, sent, policy), sent.endedAt)
    store.queue.move(row.seq, next)
    store.attempts.insert(attemptRow(row, sent, next))
    if (next.attempts > ATTEMPTS_KEPT) store.attempts.trim(row.seq, ATTEMPTS_KEPT)
    count(row.endpointId, sent, next)
    if (receiver && next.state === 'failed' && sent.refuses !== 'all')
      endpointAlerts.exhausted(endpointOf(row), next.attempts, { cause: row, sent })
    if (receiver?.isActive) judge(row, sent, policy)
    if (next.state === 'ready') wake.ready()
    if (next.state === 'waiting') wake.waiting(next.dueAt)
  }

  /** Read only when an attempt has consequences for it, because most have none. */
  const endpointOf = ({ tenantId, endpointId }: LeasedDelivery): EndpointRow =>
    store.endpoints.ofTenant(tenantId, endpointId) ?? fail(new Error('the endpoint is deleted'))

  /** Counts an attempt. An interrupted one is not counted for its endpoint. */
  function count(endpointId: string, sent: Sent, { state }: Step) {
    events.attemptEnded(sent.result, sent.durationMs)
    if (sent.result === 'interrupted' && state !== 'cancelled') return
    store.hours.add(endpointId, sent.endedAt, {
      ...(sent.result !== 'interrupted' && durations(sent.durationMs)),
      succeeded: sent.result === 'succeeded' ? 1 : 0,
      failed: sent.result === 'failed' ? 1 : 0,
      exhausted: state === 'failed' ? 1 : 0,
      cancelled: state === 'cancelled' ? 1 : 0,
    })
  }

  /**
   * Updates the endpoint's health. An endpoint that rejects a single message is healthy. A failed
   * resend doesn't count: it does not change the schedule, so it must not open the breaker. Without a
   * breaker no failure counts, and held deliveries are released as fast as for an endpoint that
   * succeeds.
   */
  function judge(cause: LeasedDelivery, sent: Sent, { breaker }: Policy) {
    const { tenantId, endpointId: id } = cause
    const ended = { cause, sent }
    if (sent.refuses === 'all') return disable(endpointOf(cause), ended, 'gone')
    if (sent.result === 'succeeded' || sent.refuses === 'message') return recover(cause)
    if (sent.result === 'interrupted' || cause.trigger === 'resend') return circuitBreaker.goOn(id)
    if (!breaker) return circuitBreaker.noteSuccess(tenantId, id)
    const endpoint = endpointOf(cause)
    const health = circuitBreaker.noteFailure(tenantId, id, breaker)
    if (isOpen(health)) endpointAlerts.failing(endpoint, health, ended)
    const lastGoodAt = () => store.hours.lastSuccessBefore(id) ?? endpoint.createdAt
    if (isHopeless(health, clock.now(), lastGoodAt)) disable(endpoint, ended, 'failing')
  }

  /** A healthy endpoint, which almost all are, costs no look-up of its alerts. */
  function recover(cause: LeasedDelivery) {
    if (circuitBreaker.noteSuccess(cause.tenantId, cause.endpointId))
      endpointAlerts.recovered(endpointOf(cause), cause)
  }

  /** Holds the open deliveries, so that none is lost when the endpoint is active again. */
  function disable(endpoint: EndpointRow, ended: Ended, reason: DisabledReason) {
    const { tenantId, id: endpointId } = endpoint
    store.endpoints.disable(tenantId, endpointId, reason, clock.now())
    circuitBreaker.suspend(endpointId)
    endpointCache.forget()
    endpointAlerts.disabled(endpoint, circuitBreaker.healthOf(endpointId), ended, reason)
    audit.record({
      tenantId,
      actor: { kind: 'system' },
      action: 'endpoint.disabled',
      object: `endpoint:${endpointId}`,
      detail: { reason },
    })
    log.warn('endpoint disabled', { endpointId, tenantId, reason })
    queueMicrotask(() => void bulkHold.parkAll(tenantId, endpointId))
  }

  return { end }
}

const durations = (durationMs: number): Partial<HourCounts> => ({
  durationMs,
  slowestMs: durationMs,
  upTo100: durationMs <= 100 ? 1 : 0,
  upTo300: durationMs <= 300 ? 1 : 0,
  upTo1000: durationMs <= 1000 ? 1 : 0,
  upTo3000: durationMs <= 3000 ? 1 : 0,
})

const attemptRow = (row: LeasedDelivery, sent: Sent, next: Step) => ({
  id: row.attemptId,
  tenantId: row.tenantId,
  deliverySeq: row.seq,
  run: row.run,
  number: row.attempts + 1,
  trigger: row.trigger,
  status: sent.result,
  startedAt: sent.startedAt,
  durationMs: sent.durationMs,
  url: sent.request?.url ?? null,
  requestHeaders: sent.request === null ? null : JSON.stringify(sent.request.headers),
  address: sent.address,
  timings: sent.timings === null ? null : JSON.stringify(sent.timings),
  responseStatus: sent.response?.status ?? null,
  responseHeaders: sent.response === null ? null : JSON.stringify(kept(sent.response.headers)),
  responseBody: sent.response?.body ?? null,
  errorCode: sent.error?.code ?? null,
  errorMessage: sent.error?.message ?? null,
  nextAttemptAt: next.state === 'waiting' || next.state === 'ready' ? next.dueAt : null,
})

const kept = (headers: [name: string, value: string][]) =>
  headers
    .slice(0, KEPT_HEADERS)
    .map(([name, value]) => [name, value.slice(0, KEPT_HEADER_CHARACTERS)])
