import { dirname, join } from 'node:path'
import { DatabaseLostError, messageOf } from '../../db/errors.ts'
import type { Db } from '../../db/open.ts'
import type { Clock } from '../clock.ts'
import { MINUTE_MS } from '../durations.ts'
import { conflict, fail } from '../errors.ts'
import { newId } from '../ids.ts'
import type { Instances } from '../instances.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics/index.ts'
import { type ObjectStorageSettings, objectUrlIn } from '../object-storage/index.ts'
import { createArchives } from './archives.ts'
import { type CheckArchive, createChildren, type MakeArchive } from './child.ts'
import { ownDirectory } from './files.ts'
import { archiveName } from './names.ts'
import { createReach, inTurn } from './reach.ts'
import { backupRetention, rotate } from './rotation.ts'
import { createArchiveStorage } from './storage.ts'
import { ABANDONED, type BackupRow, createBackupStore } from './store.ts'

/** Maximum wait until a changed clock or another process's backup is noticed. */
const MAX_SLEEP_MS = MINUTE_MS
const MAX_RETRY_MS = 15 * MINUTE_MS

export type Backups = ReturnType<typeof createBackups>

interface BackupSettings {
  enabled: boolean
  everyMs: number
  keep: number
  directory?: string | undefined
  /** A folder in object storage, instead of the directory. */
  to?: string | undefined
  encryptTo: readonly string[]
}

/** Processes on one data directory make each backup once; restarts don't affect the schedule. */
export function createBackups(parts: {
  db: Db
  clock: Clock
  log: Log
  metrics: Metrics
  instances: Pick<Instances, 'self' | 'alive' | 'onDeath'>
  settings: BackupSettings
  objectStorage: ObjectStorageSettings
  /** Replaces the child process, for tests. */
  makeArchive?: MakeArchive
  checkArchive?: CheckArchive
}) {
  const { db, clock, log, metrics, instances, settings, objectStorage } = parts
  const dataDir = dirname(db.file)
  const { enabled, everyMs, keep } = settings
  const children = createChildren({ objectStorage, encryptTo: settings.encryptTo, workIn: dataDir })
  const { makeArchive = children.make, checkArchive = children.check } = parts
  const storage = createArchiveStorage(inTurn(createReach(clock)), objectStorage)
  const retryMs = Math.min(everyMs, MAX_RETRY_MS)
  const store = createBackupStore(db)
  const made = metrics.counter('backups_total', 'Scheduled backups by result.')
  const [succeeded, failed] = [made.with({ result: 'success' }), made.with({ result: 'failure' })]
  metrics.gauge(
    'backup_last_success_timestamp_seconds',
    'Time of the last successful backup, in Unix time; 0 for never.',
    () => [{ value: Math.floor((store.latest(clock.now())?.endedAt ?? 0) / 1000) }],
  )
  let running = false
  let checking: Promise<void> | undefined
  let isToRepeat = false
  const abort = new AbortController()
  let cancelTimer = () => {}

  /** Requires that `instances` has started, so that backups of dead processes are recognized. */
  function start() {
    if (!enabled) return
    running = true
    instances.onDeath(check)
    check()
  }

  /** One at a time: a process can die while its backup still counts, so that check is repeated. */
  function check() {
    if (!running) return
    if (checking) isToRepeat = true
    else {
      isToRepeat = false
      occupy(makeDue())
    }
  }

  function occupy(work: Promise<void>) {
    cancelTimer()
    checking = work.finally(() => {
      checking = undefined
      if (!running) return
      if (isToRepeat) check()
      else cancelTimer = clock.after(sleepMs(), check)
    })
  }

  /** The time until the next check; the maximum if a due backup can't be made now. */
  function sleepMs(): number {
    try {
      const ms = dueAt() - clock.now()
      return ms > 0 ? Math.min(ms, MAX_SLEEP_MS) : MAX_SLEEP_MS
    } catch {
      return MAX_SLEEP_MS
    }
  }

  async function makeDue() {
    try {
      if (isNothingToDo()) return
      const open = store.open()
      const sizes = await sizesOf(open)
      const row = await db.commit(() => claim(sizes))
      if (row) return await make(row)
      const completed = open.find(({ id }) => typeof sizes.get(id) === 'number')
      if (completed) await rotateBeside(completed.file)
    } catch (error) {
      if (error instanceof DatabaseLostError) return
      log.error('backup schedule failed', { error: messageOf(error) })
    }
  }

  function isNothingToDo(): boolean {
    const open = store.open()
    return open.length === 0 ? dueAt() > clock.now() : open.some(isInProgress)
  }

  /**
   * Makes a backup immediately; the schedule continues from it. Resolves when the backup has begun;
   * `also` runs in the commit that records it. Throws `conflict` while another one is being made.
   */
  async function makeNow(also: (file: string) => void = () => {}): Promise<void> {
    if (checking) throw beingMade()
    const begun = begin(also)
    occupy(
      begun
        .then(make)
        .catch((error) => log.error('backup could not be recorded', { error: messageOf(error) })),
    )
    await begun
  }

  async function begin(also: (file: string) => void): Promise<BackupRow> {
    const sizes = await sizesOf(store.open())
    return db.commit(() => {
      const row = claim(sizes, true) ?? fail(beingMade())
      also(row.file)
      return row
    })
  }

  /** This process's own open record doesn't count: closing it failed, perhaps on a full disk. */
  const isInProgress = ({ owner }: BackupRow): boolean =>
    owner !== null && owner !== instances.self && instances.alive().includes(owner)

  /** Due immediately if there is none; backups dated in the future by a wrong clock are ignored. */
  function dueAt(): number {
    const now = clock.now()
    const last = store.lastScheduled(now)
    if (!last) return now
    const due = (store.lastGoodScheduled(now)?.startedAt ?? Number.NEGATIVE_INFINITY) + everyMs
    const isToRest = last.error !== null && last.error !== ABANDONED
    return isToRest ? Math.max(due, (last.endedAt ?? 0) + retryMs) : due
  }

  /** Runs under the write lock, so no backup is made twice. Undefined if there is nothing to do. */
  function claim(sizes: Map<string, number | null>, isAsked = false): BackupRow | undefined {
    const open = store.open()
    if (open.some((row) => isInProgress(row) || !sizes.has(row.id))) return
    for (const { id } of open) closeAbandoned(id, sizes.get(id) ?? null)
    if (!isAsked && dueAt() > clock.now()) return
    const row = newRow()
    // File names have a resolution of one second, so a second backup within it would collide.
    if (isAsked && store.list(row.startedAt, 1)[0]?.file === row.file) return
    store.add(row)
    return row
  }

  const newRow = (): BackupRow => ({
    id: newId(),
    origin: 'schedule',
    owner: instances.self,
    startedAt: clock.now(),
    endedAt: null,
    file: newFile(),
    bytes: null,
    error: null,
  })

  function newFile(): string {
    const name = archiveName(clock.now(), settings.encryptTo.length > 0)
    if (settings.to !== undefined) return objectUrlIn(settings.to, name)
    return join(settings.directory ?? ownDirectory(dataDir), name)
  }

  /** File sizes by record id; null if missing. Must be read before the write lock is taken. */
  async function sizesOf(rows: readonly BackupRow[]): Promise<Map<string, number | null>> {
    const sizes = new Map<string, number | null>()
    for (const { id, file } of rows) sizes.set(id, await storage.sizeOf(file))
    return sizes
  }

  /** Closes a dead process's record. If the file exists, it is complete: it gets its name last. */
  function closeAbandoned(id: string, bytes: number | null) {
    const error = bytes === null ? ABANDONED : null
    store.end(id, { endedAt: clock.now(), bytes, error })
    if (error === null) db.afterCommit(() => succeeded.add())
  }

  async function make({ id, file }: BackupRow) {
    const began = clock.monotonic()
    const { bytes, error } = await archive(file)
    await db.commit(() => store.end(id, { endedAt: clock.now(), bytes, error }))
    if (error !== null) return
    succeeded.add()
    log.info('backup made', { file, bytes, ms: Math.round(clock.monotonic() - began) })
    await rotateBeside(file)
  }

  const rotateBeside = (made: string) =>
    rotate({ store, keep, now: clock.now(), made, log, storage })

  /** Reports only whether this worked; failures to record it or delete older ones don't count. */
  async function archive(file: string): Promise<Pick<BackupRow, 'bytes' | 'error'>> {
    try {
      const { bytes } = await makeArchive(dataDir, file, abort.signal)
      return { bytes, error: null }
    } catch (error) {
      failed.add()
      log.error('backup failed', { file, error: messageOf(error), retryInMs: retryMs })
      return { bytes: null, error: messageOf(error) }
    }
  }

  /** Stops the schedule. A backup in progress gets `graceMs` to finish. */
  async function stop(graceMs: number) {
    running = false
    cancelTimer()
    if (graceMs === 0) abort.abort()
    const cancelCut = clock.after(graceMs, () => abort.abort())
    await checking
    cancelCut()
  }

  return {
    start,
    stop,
    /** Resolves when no backup is being made. */
    idle: async () => {
      while (checking) await checking
    },
    makeNow,
    archives: createArchives({ db, clock, store, storage, checkArchive }),
    latest: () => store.latest(clock.now()),
    list: (limit: number) => store.list(clock.now(), limit),
    retention: backupRetention(store, keep),
  }
}

const beingMade = () =>
  conflict('a backup is already running or has just finished; try again in a moment')
