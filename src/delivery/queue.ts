import type { Clock } from '../platform/clock.ts'
import type { DueQueue, Holders, Lane, Lease } from '../platform/due/queue.ts'
import { newId } from '../platform/ids.ts'
import type { Log } from '../platform/log.ts'
import type { BulkHold } from './bulk-hold.ts'
import type { CircuitBreaker } from './circuit-breaker.ts'
import type { Endpoint, EndpointCache } from './endpoint-cache.ts'
import { FIRST_ATTEMPTS, FURTHER_ATTEMPTS, SLICE } from './limits.ts'
import { handlingOf } from './paused.ts'
import type { PolicyOf } from './policy.ts'
import { type Send, type Sent, unsent } from './send.ts'
import type { Settling } from './settling.ts'
import type { Store } from './store/index.ts'
import type { MessageRow } from './store/messages.ts'
import type { DeliveryQueue, DeliveryRow, LeasedDelivery } from './store/rows.ts'
import type { Wake } from './wake.ts'

/** One attempt at a delivery, under a lease. */
export interface Attempt extends Lane {
  delivery: LeasedDelivery
  endpoint: Endpoint
  message: MessageRow
}

const BROKEN = 'Gatehouse failed to make the attempt; see the server log'
const INTERRUPTED = 'Gatehouse stopped before the response was stored'

/**
 * One of the two queues of deliveries, each with its own due loop and concurrency limits: first
 * attempts and resends, or retries and replays.
 */
export function createDeliveryQueue(parts: {
  name: DeliveryQueue
  store: Store
  clock: Clock
  log: Log
  endpointCache: EndpointCache
  circuitBreaker: CircuitBreaker
  bulkHold: BulkHold
  settling: Settling
  wake: Wake
  send: Send
  policyOf: PolicyOf
  /** The longest time that any attempt may take, in milliseconds. */
  longestMs: number
}): DueQueue<Attempt, Sent> {
  const { name, store, clock, log, endpointCache, circuitBreaker, bulkHold, settling, wake, send } =
    parts
  const { policyOf } = parts
  const queue = store.queue[name]
  /** Only the queue of first attempts handles the recovery of endpoints. */
  const probesEndpoints = name === 'first'

  function nextDueAt(): number | undefined {
    const times = [
      queue.firstWaitingAt(),
      probesEndpoints ? circuitBreaker.nextTrialAt() : undefined,
    ].filter((at) => at !== undefined)
    return times.length === 0 ? undefined : Math.min(...times)
  }

  function promote(now: number): boolean {
    if (probesEndpoints) circuitBreaker.tryAgain(now, SLICE)
    return queue.promote(now, SLICE)
  }

  /** Claims deliveries, or holds or cancels them. Resends go out even with an open breaker. */
  function claim(lane: Lane, limit: number, lease: Lease): Attempt[] {
    const endpoint = usable(lane)
    if (!endpoint || handlingOf(endpoint) !== 'send') {
      turnAway(lane, endpoint)
      return []
    }
    const room = circuitBreaker.roomAt(lane.tenant, endpoint.id, limit)
    const rows =
      room === undefined ? resends(lane).slice(0, limit) : queue.ready(lane, Math.min(limit, room))
    return rows.flatMap((row) => begin(row, lane, endpoint, lease) ?? [])
  }

  /** Confirms in the database before holding: nothing would release a delivery held by mistake. */
  function turnAway(lane: Lane, endpoint: Endpoint | undefined | null) {
    const { tenant, target } = lane
    if (endpoint === undefined) return cancelSome(lane)
    if (endpoint === null) circuitBreaker.putOff(tenant, target)
    else if (store.endpoints.isActive(tenant, target)) return reloadEndpoint()
    else circuitBreaker.suspend(target)
    return hold(slice(lane))
  }

  function cancelSome({ tenant, target }: Lane) {
    if (bulkHold.cancelSlice(tenant, target, SLICE) === SLICE) wake.ready()
  }

  function reloadEndpoint() {
    endpointCache.forget()
    wake.ready()
  }

  /**
   * The endpoint; undefined if it is deleted, and null if its secrets can't be decrypted, which
   * must not stop the other endpoints.
   */
  function usable({ tenant, target }: Lane): Endpoint | undefined | null {
    try {
      return endpointCache.find(tenant, target)
    } catch (error) {
      log.error('endpoint cannot be used', { endpointId: target, error: String(error) })
      return null
    }
  }

  function resends(lane: Lane): DeliveryRow[] {
    const rows = slice(lane)
    hold(rows.filter(({ trigger }) => trigger !== 'resend'))
    return rows.filter(({ trigger }) => trigger === 'resend')
  }

  /** Reads one slice. After a full slice, wakes the loop to read the next one. */
  function slice(lane: Lane): DeliveryRow[] {
    const rows = queue.ready(lane, SLICE)
    if (rows.length === SLICE) wake.ready()
    return rows
  }

  const hold = (rows: DeliveryRow[]) => store.holding.hold(rows.map(({ seq }) => seq))

  function begin(row: DeliveryRow, lane: Lane, endpoint: Endpoint, lease: Lease) {
    const message = store.messages.atSeq(row.tenantId, row.messageSeq)
    if (!message) return undefined
    const attempt = { attemptId: newId(), startedAt: clock.now() }
    const delivery = queue.lease(row, attempt, lease)
    return delivery && { ...lane, delivery, endpoint, message }
  }

  const perform = ({ delivery, endpoint, message }: Attempt, signal: AbortSignal) =>
    send(
      {
        endpoint,
        message,
        format: delivery.format,
        attempt: delivery.attempts + 1,
        trigger: delivery.trigger,
      },
      policyOf(delivery.stream),
      signal,
    )

  const broken = ({ delivery }: Attempt): Sent =>
    unsent(delivery.startedAt, clock.now(), 'failed', BROKEN)

  function settle({ delivery }: Attempt, sent: Sent): undefined {
    settling.end(delivery, sent)
  }

  const hasLost = (holders: Holders): boolean =>
    queue.hasLost(holders) || (probesEndpoints && circuitBreaker.hasStalled())

  function reclaim(holders: Holders) {
    for (const delivery of queue.lost(holders, SLICE))
      settling.end(delivery, unsent(delivery.startedAt, holders.now, 'interrupted', INTERRUPTED))
    if (probesEndpoints) circuitBreaker.resume(SLICE)
  }

  return {
    name: probesEndpoints ? 'deliveries' : 'deliveries again',
    limits: probesEndpoints ? FIRST_ATTEMPTS : FURTHER_ATTEMPTS,
    longestMs: parts.longestMs,
    nextDueAt,
    promote,
    nextLane: queue.nextLane,
    claim,
    perform,
    broken,
    settle,
    hasLost,
    reclaim,
  }
}
