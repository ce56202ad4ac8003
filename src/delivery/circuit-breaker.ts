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

/**
 * The breaker of each endpoint, and how what was held meanwhile is let go: a little at a time,
 * each that ends drawing the next ones after it. All of this runs inside the loop's commits.
 */
export function createCircuitBreaker(parts: { store: Store; clock: Clock; wake: Wake }) {
  const { store, clock, wake } = parts

  /** Endpoints whose breaker opened here, so that only of these it is looked up. */
  const opened = new Set<string>()

  const healthOf = (endpointId: string): Health => store.health.find(endpointId) ?? HEALTHY

  /**
   * How many of `wanted` attempts may begin now, or undefined while the breaker is open. While
   * held deliveries are let go, as many of them stand in line by then: they are older than what
   * has come since, and so go first.
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
      : Math.max(window - store.line.leasedOf(endpointId), 0)

  /** An endpoint that does as it should costs one read. */
  function noteSuccess(tenantId: string, endpointId: string) {
    const row = store.health.find(endpointId)
    if (!row) return
    if (isSpotless(row) && !row.isReleasing) return
    const isReleasing = row.isReleasing || isOpen(row)
    const next = { ...row, ...afterSuccess(row), tenantId, isReleasing }
    store.health.put(next)
    if (isReleasing) release(next)
    // The window is that of both lines: room in it is news for either.
    wake.ready()
  }

  /** An attempt has ended that says nothing of the endpoint, but has left room for another. */
  function goOn(endpointId: string) {
    const row = store.health.find(endpointId)
    if (row?.isReleasing) release(row)
    if (row) wake.ready()
  }

  /** Says how things stand afterwards. */
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

  /** For a new delivery: it goes to the others that are held, without a turn in line. */
  function isHoldingBack(endpointId: string): boolean {
    if (!opened.has(endpointId)) return false
    const isStillOpen = isOpen(healthOf(endpointId))
    if (!isStillOpen) opened.delete(endpointId)
    return isStillOpen
  }

  /** Sees to it that something stands in line, for the loop to come by and take more. */
  function release(row: HealthRow) {
    const { tenantId, endpointId } = row
    const wanted = row.window ?? FIRST_ATTEMPTS.perTarget
    letGo(tenantId, row, wanted - store.holding.standing(tenantId, endpointId, wanted))
  }

  function letGo(tenantId: string, row: HealthRow, count: number) {
    if (count <= 0) return
    const released = store.holding.release(tenantId, row.endpointId, count)
    if (released < count) store.health.put({ ...row, isReleasing: false })
    if (released > 0) wake.ready()
  }

  /** For an endpoint that takes deliveries again, with a clean slate but a slow start. */
  function restart(tenantId: string, endpointId: string) {
    const row = { ...newRow(tenantId, endpointId), window: 1, isReleasing: true }
    store.health.put(row)
    release(row)
  }

  /** For an endpoint that is switched off. */
  function suspend(endpointId: string) {
    opened.delete(endpointId)
    const row = store.health.find(endpointId)
    if (row?.openUntil || row?.isReleasing)
      store.health.put({ ...row, openUntil: null, isReleasing: false })
  }

  /** For one that cannot be called for a reason of ours: later, when somebody has mended it. */
  function putOff(tenantId: string, endpointId: string) {
    const openUntil = clock.now() + MAX_PAUSE_MS
    store.health.put({ ...newRow(tenantId, endpointId), openUntil, window: 1 })
    noteOpen(endpointId, openUntil)
  }

  /** A pause longer than any was begun while the clock was wrong: it is over. */
  function nextTrialAt(): number | undefined {
    const now = clock.now()
    const last = store.health.lastPauseEnd()
    return last !== undefined && last > now + MAX_PAUSE_MS ? now : store.health.firstPauseEnd()
  }

  /** Those whose pause is over get one delivery to prove themselves with. */
  function tryAgain(now: number, limit: number) {
    const { over, beyond } = store.health
    for (const row of [...over(now, limit), ...beyond(now + MAX_PAUSE_MS, limit)]) endPause(row)
  }

  /** For an endpoint that is another one now: it need not wait for what the former did. */
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

  /** Goes on where nothing is under way any more that would draw the next ones. */
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
