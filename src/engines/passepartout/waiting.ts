import type { Db } from '../../db/open.ts'
import type { Clock } from '../../platform/clock.ts'

/** What another process has ended is noticed within this time. */
const LOOK_MS = 500
/** Woken at once, thousands would keep others waiting. */
const SLICE = 100
/** Connections are not without end. Of what others leave, a tenant gets half; beyond it nobody is held. */
const MOST_WAITING = 10_000

/** Whoever asks, and about what. */
interface Asking {
  tenantId: string
  attemptId: string
}

export type Waiting = ReturnType<typeof createWaiting>

/** Those who ask about an attempt and are content to wait until there is news. */
export function createWaiting({ db, clock }: { db: Db; clock: Clock }) {
  const waiting = new Map<string, Set<() => void>>()
  const ofTenant = new Map<string, number>()
  let count = 0
  let isClosed = false
  let version = db.version()
  let isLooking = false

  function hasRoom(tenantId: string): boolean {
    const own = ofTenant.get(tenantId) ?? 0
    return !isClosed && own < (MOST_WAITING - (count - own)) / 2
  }

  /**
   * Resolves after `ms` at the latest, or once there may be news of the attempt: whoever waits
   * looks again.
   */
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
      if (!isLooking) lookLater()
    })
  }

  function remember(attemptId: string, end: () => void) {
    const ends = waiting.get(attemptId)
    if (ends) ends.add(end)
    else waiting.set(attemptId, new Set([end]))
  }

  /** False when it was forgotten before. */
  function forget(attemptId: string, end: () => void): boolean {
    const ends = waiting.get(attemptId)
    if (!ends?.delete(end)) return false
    if (ends.size === 0) waiting.delete(attemptId)
    return true
  }

  /** Keeps no zeros. */
  function tally(tenantId: string, n: number) {
    count += n
    const own = (ofTenant.get(tenantId) ?? 0) + n
    if (own === 0) ofTenant.delete(tenantId)
    else ofTenant.set(tenantId, own)
  }

  /** There is news of this one. */
  function tell(attemptId: string) {
    for (const end of [...(waiting.get(attemptId) ?? [])]) end()
  }

  /** Our own commits leave the version as it is: only those of other processes are looked for. */
  function lookLater() {
    isLooking = true
    clock.after(LOOK_MS, () => {
      isLooking = false
      if (count === 0) return
      const current = db.version()
      if (current !== version) tellAll([...waiting.keys()])
      version = current
      lookLater()
    })
  }

  function tellAll(attemptIds: string[]) {
    for (const id of attemptIds.splice(0, SLICE)) tell(id)
    if (attemptIds.length > 0) setImmediate(tellAll, attemptIds)
  }

  /** Sends everybody away, and holds nobody from then on: the server ends. */
  function close() {
    isClosed = true
    tellAll([...waiting.keys()])
  }

  return { hasRoom, news, tell, close, count: () => count }
}
