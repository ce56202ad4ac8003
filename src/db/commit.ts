import type { Database } from 'bun:sqlite'
import {
  type Confirmations,
  createConfirmations,
  type Replica,
  type Wait,
} from './confirmations.ts'
import { asStorageError, isBusy, StorageError } from './errors.ts'
import { joinGroup, type Part } from './group.ts'
import { createLanes } from './lanes.ts'
import { areWritesRefused, WriteRefused } from './no-writes.ts'

/** Synchronous work only: the transaction would commit without anything after an `await`. */
type Work<T> = () => T extends PromiseLike<unknown> ? never : T

/**
 * Runs `work` inside the next transaction and resolves with its result once that transaction is on
 * disk. If `work` throws, only its own changes are rolled back and only its own promise rejects.
 * Rejects with `StorageError` if the disk can't take the commit, and with `WriteRefused` inside
 * `withoutWrites`. With a replica, `wait` says how long to wait until it has the commit, too.
 */
export type Commit = <T>(work: Work<T>, wait?: Wait) => Promise<T>

/** A commit in the lane of a tenant. Lanes take turns. */
export type CommitFor = <T>(tenantId: string, work: Work<T>, wait?: Wait) => Promise<T>

/** The lane for the program's own work, which belongs to no tenant. */
const OWN_LANE = ''

/** Receives counts of commits and failures. */
export interface CommitObserver {
  /** A transaction with this many pieces of work is on disk, `ms` after it began. */
  committed(works: number, ms: number): void
  /** `works` pieces of work stored nothing, because the disk or the database refused them. */
  failed(works: number): void
}

type Outcome = { value: unknown } | { error: unknown }

/** How long a write waits for a lock held by another process, in milliseconds. */
export const BUSY_TIMEOUT_MS = 5000

/** Milliseconds until a transaction, which blocks event loop and writers, starts no more work. */
const MAX_GROUP_MS = 20

/** Milliseconds between attempts to take the write lock; reads continue meanwhile. */
const LOCK_RETRY_MS = 2

/** Throws if a restart would not find what is committed now. */
export type RequireFiles = (isStored?: boolean) => void

/**
 * Group commit: all work queued in one turn of the event loop shares one `BEGIN IMMEDIATE …
 * COMMIT`, and so one disk sync. Work that does not fit waits in lanes that take turns, one per
 * tenant. `requireFiles` runs once the write lock is held, because a restore takes that lock before
 * it moves the files, and again after the commit, so that nothing is acknowledged that was lost
 * with them. `noteError` gets what a transaction, or a piece of work, failed with.
 */
export function createCommit(
  client: Database,
  requireFiles: RequireFiles = () => {},
  noteError: (error: unknown) => void = () => {},
) {
  const begin = client.prepare('BEGIN IMMEDIATE')
  const end = client.prepare('COMMIT')
  const savepoint = client.prepare('SAVEPOINT work')
  const release = client.prepare('RELEASE work')
  const undo = client.prepare('ROLLBACK TO work')
  const queue = createLanes<Part>()
  let scheduled = false
  let failures = 0
  let lockWaitSince: number | undefined
  let observer: CommitObserver | undefined
  let putOff: (() => void)[] = []
  let confirmations: Confirmations | undefined
  let isOpen = () => true

  const commit: Commit = (work, wait) => queueFor(OWN_LANE, work, wait)

  const commitFor: CommitFor = (tenantId, work, wait) => queueFor(tenantId, work, wait)

  const queueFor = <T>(tenantId: string, work: Work<T>, wait: Wait = 'replica'): Promise<T> =>
    new Promise((resolve, reject) => {
      if (areWritesRefused()) return reject(new WriteRefused('writes are not allowed here'))
      if (!isOpen()) return reject(notActive({ isStored: false }))
      const refusal = confirmations?.refusal(wait)
      if (refusal) return reject(refusal)
      const queued = { work, wait, resolve: resolve as (value: unknown) => void, reject }
      if (joinGroup(queued)) return
      queue.add(tenantId, queued)
      schedule()
    })

  function schedule() {
    if (scheduled || queue.size() === 0) return
    scheduled = true
    setImmediate(flush)
  }

  function flush() {
    scheduled = false
    if (queue.size() === 0) return
    if (!takeWriteLock() || !areFilesInPlace()) return
    const group: Part[] = []
    const outcomes = transact(group)
    for (const [index, part] of group.entries()) finish(part, outcomes[index] as Outcome)
    if (putOff.length > 0) for (const tell of putOff.splice(0)) tell()
    if (observer) tellOfLosses(observer, outcomes)
    schedule()
  }

  /** A failure is reported at once; a result when the replica has it, too, if there is one. */
  function finish(part: Part, outcome: Outcome) {
    if ('error' in outcome) return settle(part, outcome)
    const refuse = (error: StorageError) => {
      part.reject(error)
      observer?.failed(1)
    }
    // Looked at last: what another server restores has all that was confirmed before it took over.
    const acknowledge = () =>
      isOpen() ? part.resolve(outcome.value) : refuse(notActive({ isStored: true }))
    if (!confirmations) return acknowledge()
    confirmations.hold(part.wait, { settle: acknowledge, refuse })
  }

  /** Never waits inside SQLite, which would block the event loop; a locked-out group is retried. */
  function takeWriteLock(): boolean {
    try {
      beginWithoutWaiting()
      lockWaitSince = undefined
      return true
    } catch (error) {
      if (isBusy(error) && lockIsStillWorthWaitingFor()) retryLater()
      else giveUp(error)
      return false
    }
  }

  function areFilesInPlace(): boolean {
    try {
      requireFiles()
      return true
    } catch (error) {
      client.run('ROLLBACK')
      giveUp(error)
      return false
    }
  }

  function beginWithoutWaiting() {
    setBusyTimeout(0)
    try {
      begin.run()
    } finally {
      setBusyTimeout(BUSY_TIMEOUT_MS)
    }
  }

  /** Not prepared, because SQLite executes this pragma while it compiles it. */
  function setBusyTimeout(ms: number) {
    client.run(`PRAGMA busy_timeout = ${ms}`)
  }

  function lockIsStillWorthWaitingFor() {
    lockWaitSince ??= performance.now()
    return performance.now() - lockWaitSince < BUSY_TIMEOUT_MS
  }

  function retryLater() {
    scheduled = true
    setTimeout(flush, LOCK_RETRY_MS)
  }

  function giveUp(error: unknown) {
    noteError(error)
    lockWaitSince = undefined
    const group = queue.takeAll()
    for (const part of group) settle(part, { error: asStorageError(error) })
    observer?.failed(group.length)
  }

  /** Moves queued work that fits into one transaction to `group`; returns an outcome for each. */
  function transact(group: Part[]): Outcome[] {
    const outcomes: Outcome[] = []
    const startedAt = performance.now()
    const until = startedAt + MAX_GROUP_MS
    try {
      for (let now = startedAt; now < until && queue.size() > 0; ) {
        outcomes.push(attempt(next(group)))
        const endedAt = performance.now()
        queue.charge(endedAt - now)
        now = endedAt
      }
      end.run()
      requireFiles(true)
    } catch (error) {
      noteError(error)
      failures++
      putOff = []
      if (client.inTransaction) client.run('ROLLBACK')
      return group.map(() => ({ error: asStorageError(error) }))
    }
    observer?.committed(outcomes.length, performance.now() - startedAt)
    return outcomes
  }

  function next(group: Part[]) {
    const queued = queue.take() as Part
    group.push(queued)
    return queued.work
  }

  /** Runs one piece of work in its own savepoint. Throws only when the whole group is lost. */
  function attempt(work: () => unknown): Outcome {
    savepoint.run()
    const putOffBefore = putOff.length
    try {
      const value = work()
      release.run()
      return { value }
    } catch (error) {
      if (!client.inTransaction) throw error
      noteError(error)
      putOff.length = putOffBefore
      undo.run()
      release.run()
      return { error: asStorageError(error) }
    }
  }

  /** Resolves when everything queued so far is settled. */
  async function drain() {
    while (queue.size() > 0) await Bun.sleep(1)
    await confirmations?.settled()
  }

  /** The number of failed transactions. Data read inside a failed transaction never existed. */
  const failed = () => failures

  /** Reports every later transaction to `whom`. */
  const observe = (whom: CommitObserver) => {
    observer = whom
  }

  /** From now on, results wait until `replica` has them. */
  const confirmBy = (replica: Replica) => {
    confirmations = createConfirmations(replica)
  }

  /** From now on, nothing is written or acknowledged while `isHeld` is false. */
  const fenceBy = (isHeld: () => boolean) => {
    isOpen = isHeld
  }

  /** Inside a piece of work: runs `tell`, which can't be undone, only once the work is on disk. */
  const afterCommit = (tell: () => void) => void putOff.push(tell)

  return { commit, commitFor, drain, failed, observe, confirmBy, fenceBy, afterCommit }
}

const notActive = ({ isStored }: { isStored: boolean }) =>
  new StorageError(
    isStored
      ? 'another server may have taken over, so the write may be lost or stored'
      : 'another server may have taken over, so nothing is written',
    { isStored },
  )

function settle({ resolve, reject }: Part, outcome: Outcome) {
  if ('error' in outcome) reject(outcome.error)
  else resolve(outcome.value)
}

function tellOfLosses(observer: CommitObserver, outcomes: Outcome[]) {
  const lost = outcomes.filter((one) => 'error' in one && one.error instanceof StorageError)
  if (lost.length > 0) observer.failed(lost.length)
}
