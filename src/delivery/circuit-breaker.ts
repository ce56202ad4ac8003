import type { Clock } from '../platform/clock.ts'
import {
  afterFailure,
  afterSuccess,
  type BreakerRules,
  HEALTHY,
  type Health,
  halfOpen,
  isOpen,
  MAX_PAUSE_MS,
} from './health.ts'
import { FIRST_ATTEMPTS } from './limits.ts'
import type { HealthRow } from './store/health.ts'
import type { Store } from './store/index.ts'
import type { Wake } from './wake.ts'

export type CircuitBreaker = ReturnType<typeof createCircuitBreaker>

/** Runs inside the due loop's commits. Each ended attempt releases the next held deliveries. */
export function createCircuitBreaker(parts: { store: Store; clock: Clock; wake: Wake }) {
  const { store, clock, wake } = parts

  /** Endpoints whose breaker this process opened; breakers are looked up only for these. */
  const opened = new Set<string>()

  const healthOf = (endpointId: string): Health => store.health.find(endpointId) ?? HEALTHY

  /**
   * How many of `wanted` attempts may start now; undefined while the breaker is open. During a
   * release, also queues that many held deliveries, which are older and so sent first.
   */
  function roomAt(tenantId: string, endpointId: string, wanted: number): number | undefined {
    const row = store.health.find(endpointId)
    if (!row) return wanted
    if (row.openUntil !== null) return undefined
    const room = Math.min(wanted, roomBy(row))
    if (row.isReleasing) letGo(tenantId, row, room)
    return room
  }

  const roomBy = ({ endpointId, window }: HealthRow): number =>
    window === null
      ? Number.POSITIVE_INFINITY
      : Math.max(window - store.queue.leasedOf(endpointId), 0)

  /** Records a success, and returns whether it is a recovery. For a healthy endpoint it costs a single read. */
  function noteSuccess(tenantId: string, endpointId: string): boolean {
    const row = store.health.find(endpointId)
    if (!row) return false
    if (isSpotless(row) && !row.isReleasing) return false
    const isReleasing = row.isReleasing || isOpen(row)
    const next = { ...row, ...afterSuccess(row), tenantId, isReleasing }
    store.health.put(next)
    if (isReleasing) release(next)
    // Both queues share the window, so free room concerns both.
    wake.ready()
    return row.trips > 0
  }

  /** Continues after an attempt that frees room but says nothing about the endpoint's health. */
  function goOn(endpointId: string) {
    const row = store.health.find(endpointId)
    if (row?.isReleasing) release(row)
    if (row) wake.ready()
  }

  /** Records a failure and returns the resulting health. */
  function noteFailure(tenantId: string, endpointId: string, rules: BreakerRules): Health {
    const row = store.health.find(endpointId) ?? newRow(tenantId, endpointId)
    const next = { ...row, ...afterFailure(row, clock.now(), rules) }
    if (next.openUntil !== null) next.isReleasing = false
    store.health.put(next)
    if (next.openUntil !== null) noteOpen(endpointId, next.openUntil)
    if (next.isReleasing) release(next)
    if (next.window !== null) wake.ready()
    return next
  }

  function noteOpen(endpointId: string, until: number) {
    opened.add(endpointId)
    wake.waiting(until)
  }

  /** Whether the breaker is open, so that new deliveries are held without entering the queue. */
  function isHoldingBack(endpointId: string): boolean {
    if (!opened.has(endpointId)) return false
    const isStillOpen = isOpen(healthOf(endpointId))
    if (!isStillOpen) opened.delete(endpointId)
    return isStillOpen
  }

  /** Keeps at least one delivery queued, so that the loop visits the endpoint and releases more. */
  function release(row: HealthRow) {
    const { tenantId, endpointId } = row
    const wanted = row.window ?? FIRST_ATTEMPTS.perTarget
    letGo(tenantId, row, wanted - store.holding.readyCount(tenantId, endpointId, wanted))
  }

  function letGo(tenantId: string, row: HealthRow, count: number) {
    if (count <= 0) return
    const released = store.holding.release(tenantId, row.endpointId, count)
    if (released < count) store.health.put({ ...row, isReleasing: false })
    if (released > 0) wake.ready()
  }

  /** Resets the health of an endpoint that is active again, starting with one attempt at a time. */
  function restart(tenantId: string, endpointId: string) {
    const row = { ...newRow(tenantId, endpointId), window: 1, isReleasing: true }
    store.health.put(row)
    release(row)
  }

  /** Ends the breaker's pause and the release for an endpoint that is disabled. */
  function suspend(endpointId: string) {
    opened.delete(endpointId)
    const row = store.health.find(endpointId)
    if (row?.openUntil || row?.isReleasing)
      store.health.put({ ...row, openUntil: null, isReleasing: false })
  }

  /** Pauses an endpoint that fails on our side, until an operator has had time to fix it. */
  function putOff(tenantId: string, endpointId: string) {
    const openUntil = clock.now() + MAX_PAUSE_MS
    // The next success is still the recovery of an endpoint that was failing before.
    const { trips } = healthOf(endpointId)
    store.health.put({ ...newRow(tenantId, endpointId), trips, openUntil, window: 1 })
    noteOpen(endpointId, openUntil)
  }

  /** End of the next pause. One beyond the maximum began with a wrong clock and counts as over. */
  function nextTrialAt(): number | undefined {
    const now = clock.now()
    const last = store.health.lastPauseEnd()
    return last !== undefined && last > now + MAX_PAUSE_MS ? now : store.health.firstPauseEnd()
  }

  /** Releases one delivery as a trial for each endpoint whose pause is over. */
  function tryAgain(now: number, limit: number) {
    const { over, beyond } = store.health
    for (const row of [...over(now, limit), ...beyond(now + MAX_PAUSE_MS, limit)]) endPause(row)
  }

  /** Ends the pause of a changed endpoint: the failures concern its previous settings. */
  function tryNow(endpointId: string) {
    const row = store.health.find(endpointId)
    if (row && isOpen(row)) endPause(row)
  }

  function endPause(row: HealthRow) {
    const next = { ...row, ...halfOpen(row), isReleasing: true }
    store.health.put(next)
    release(next)
  }

  const hasStalled = (): boolean => store.health.stalled(1).length > 0

  /** Restarts stalled releases: no attempt in progress would release the next deliveries. */
  function resume(limit: number) {
    for (const row of store.health.stalled(limit)) release(row)
  }

  return {
    healthOf,
    isHoldingBack,
    roomAt,
    goOn,
    noteSuccess,
    noteFailure,
    putOff,
    restart,
    suspend,
    nextTrialAt,
    tryAgain,
    tryNow,
    hasStalled,
    resume,
  }
}

const newRow = (tenantId: string, endpointId: string): HealthRow => ({
  ...HEALTHY,
  tenantId,
  endpointId,
  isReleasing: false,
})

const isSpotless = ({ failures, openUntil, window, failingSince }: Health): boolean =>
  failures === 0 && openUntil === null && window === null && failingSince === null
