import type { Db } from '../../db/open.ts'
import type { Clock } from '../../platform/clock.ts'
import { ALONE, partOf, type Siblings } from '../../platform/siblings.ts'

/** Maximum delay until changes by processes of other servers are noticed, in milliseconds. */
const CHECK_INTERVAL_MS = 500
/** Wakes requests in batches, because waking thousands at once would block others. */
const SLICE = 100
/** A tenant may use half of what others leave free; further requests are not held. */
const MAX_WAITING = 10_000

/** A waiting request, and its attempt. */
interface Asking {
  tenantId: string
  attemptId: string
}

export type Waiting = ReturnType<typeof createWaiting>

/** Status requests that wait for a change of their attempt. */
export function createWaiting(parts: { db: Db; clock: Clock; siblings?: Siblings }) {
  const { db, clock, siblings = ALONE } = parts
  const most = partOf(MAX_WAITING, siblings)
  const waiting = new Map<string, Set<() => void>>()
  const ofTenant = new Map<string, number>()
  let count = 0
  let isClosed = false
  let version = db.version()
  let isChecking = false

  function hasRoom(tenantId: string): boolean {
    const own = ofTenant.get(tenantId) ?? 0
    return !isClosed && own < (most - (count - own)) / 2
  }

  /** Resolves after `ms`, or once the attempt may have changed; the caller then reads it again. */
  function news({ tenantId, attemptId }: Asking, ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        cancel()
        signal.removeEventListener('abort', end)
        if (forget(attemptId, end)) tally(tenantId, -1)
        resolve()
      }
      const cancel = clock.after(ms, end)
      signal.addEventListener('abort', end)
      remember(attemptId, end)
      tally(tenantId, 1)
      if (!isChecking) checkLater()
    })
  }

  function remember(attemptId: string, end: () => void) {
    const ends = waiting.get(attemptId)
    if (ends) ends.add(end)
    else waiting.set(attemptId, new Set([end]))
  }

  /** False if it was already removed. */
  function forget(attemptId: string, end: () => void): boolean {
    const ends = waiting.get(attemptId)
    if (!ends?.delete(end)) return false
    if (ends.size === 0) waiting.delete(attemptId)
    return true
  }

  /** Removes counters that reach zero. */
  function tally(tenantId: string, n: number) {
    count += n
    const own = (ofTenant.get(tenantId) ?? 0) + n
    if (own === 0) ofTenant.delete(tenantId)
    else ofTenant.set(tenantId, own)
  }

  siblings.on('login', wake)

  /** Wakes the requests for an attempt, in all processes of the server. */
  function tell(attemptId: string) {
    wake(attemptId)
    siblings.tell('login', attemptId)
  }

  function wake(attemptId: string) {
    for (const end of [...(waiting.get(attemptId) ?? [])]) end()
  }

  /** Checks for commits of other processes; own commits do not change the data version. */
  function checkLater() {
    isChecking = true
    clock.after(CHECK_INTERVAL_MS, () => {
      isChecking = false
      if (count === 0) return
      const current = db.version()
      if (current !== version) tellAll([...waiting.keys()])
      version = current
      checkLater()
    })
  }

  function tellAll(attemptIds: string[]) {
    for (const id of attemptIds.splice(0, SLICE)) wake(id)
    if (attemptIds.length > 0) setImmediate(tellAll, attemptIds)
  }

  /** Ends all waiting requests and holds no further ones, because the server stops. */
  function close() {
    isClosed = true
    tellAll([...waiting.keys()])
  }

  return { hasRoom, news, tell, close, count: () => count }
}
