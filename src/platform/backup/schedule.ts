import { stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DatabaseLostError, messageOf } from '../../db/errors.ts'
import type { Db } from '../../db/open.ts'
import type { Clock } from '../clock.ts'
import { conflict, fail } from '../errors.ts'
import { newId } from '../ids.ts'
import type { Instances } from '../instances.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics/index.ts'
import { archiveInChild, type MakeArchive } from './child.ts'
import { ownDirectory } from './files.ts'
import { archiveName } from './names.ts'
import { createReach } from './reach.ts'
import { backupRetention, rotate } from './rotation.ts'
import { ABANDONED, type BackupRow, createBackupStore } from './store.ts'

/** Longest sleep: bounds how late a changed clock or the backup of another process is noticed. */
const MAX_SLEEP_MS = 60_000
const MAX_RETRY_MS = 15 * 60_000

export type Backups = ReturnType<typeof createBackups>

interface BackupSettings {
  enabled: boolean
  everyMs: number
  keep: number
  directory?: string
}

/**
 * Backups on a schedule, as long as somebody serves. Any number of processes on one data directory
 * make each of them once; the table says when the next is due, so that a restart changes nothing.
 */
export function createBackups(parts: {
  db: Db
  clock: Clock
  log: Log
  metrics: Metrics
  instances: Pick<Instances, 'self' | 'alive' | 'onDeath'>
  settings: BackupSettings
  /** Takes the place of the process that makes it. */
  makeArchive?: MakeArchive
}) {
  const { db, clock, log, metrics, instances, settings } = parts
  const dataDir = dirname(db.file)
  const { enabled, everyMs, keep } = settings
  const makeArchive = parts.makeArchive ?? archiveInChild
  const reach = createReach(clock)
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
  let looking: Promise<void> | undefined
  const abort = new AbortController()
  let cancelTimer = () => {}

  /** After the instances: what a dead one has left open is known as such only then. */
  function start() {
    if (!enabled) return
    running = true
    instances.onDeath(look)
    look()
  }

  function look() {
    if (!running || looking) return
    cancelTimer()
    looking = makeDue().finally(() => {
      looking = undefined
      if (running) cancelTimer = clock.after(sleepMs(), look)
    })
  }

  /** One that is due but cannot be made now, such as while another process makes it, can wait. */
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
      const sizes = await sizesOf(store.open())
      const row = await db.commit(() => claim(sizes))
      if (row) await make(row)
    } catch (error) {
      if (error instanceof DatabaseLostError) return
      log.error('backup schedule failed', { error: messageOf(error) })
    }
  }

  function isNothingToDo(): boolean {
    const open = store.open()
    return open.length === 0 ? dueAt() > clock.now() : open.some(isUnderWay)
  }

  /**
   * One at once, whatever the schedule says, which counts from it then. Comes back when it has begun;
   * `also` is done in the commit that says so. Throws `conflict` while one is being made.
   */
  async function makeNow(also: (file: string) => void = () => {}): Promise<void> {
    if (looking) throw beingMade()
    cancelTimer()
    const begun = begin(also)
    looking = begun
      .then(make)
      .catch((error) => log.error('backup could not be made', { error: messageOf(error) }))
      .finally(() => {
        looking = undefined
        if (running) cancelTimer = clock.after(sleepMs(), look)
      })
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

  /** Elsewhere: what we have left open ourselves could not be closed, as on a full disk. */
  const isUnderWay = ({ owner }: BackupRow): boolean =>
    owner !== null && owner !== instances.self && instances.alive().includes(owner)

  /** At once where there is none. What a clock that was ahead has dated says nothing. */
  function dueAt(): number {
    const now = clock.now()
    const last = store.lastScheduled(now)
    if (!last) return now
    const due = (store.lastGoodScheduled(now)?.startedAt ?? Number.NEGATIVE_INFINITY) + everyMs
    const isToRest = last.error !== null && last.error !== ABANDONED
    return isToRest ? Math.max(due, (last.endedAt ?? 0) + retryMs) : due
  }

  /** Under the write lock of the database: whoever comes second finds the row of the first. */
  function claim(sizes: Map<string, number | null>, isAsked = false): BackupRow | undefined {
    const open = store.open()
    if (open.some((row) => isUnderWay(row) || !sizes.has(row.id))) return
    for (const { id } of open) closeAbandoned(id, sizes.get(id) ?? null)
    if (!isAsked && dueAt() > clock.now()) return
    const row = newRow()
    // Files are named by the second: one that was made within it would be in the way.
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
    file: join(settings.directory ?? ownDirectory(dataDir), archiveName(clock.now())),
    bytes: null,
    error: null,
  })

  /** Of the files that these rows name; null where there is none. Before the write lock is taken. */
  async function sizesOf(rows: readonly BackupRow[]): Promise<Map<string, number | null>> {
    const sizes = new Map<string, number | null>()
    for (const { id, file } of rows) sizes.set(id, await reach(file, () => sizeOf(file)))
    return sizes
  }

  /** A file has its name only once it is whole: its maker may have ended just after that. */
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
    await rotate({ store, keep, now: clock.now(), made: file, log, reach })
  }

  /** What became of the file alone: that it cannot be noted, or an older one deleted, is no fault of it. */
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

  /** Begins none any more; one under way gets `graceMs` to end. */
  async function stop(graceMs: number) {
    running = false
    cancelTimer()
    if (graceMs === 0) abort.abort()
    const cancelCut = clock.after(graceMs, () => abort.abort())
    await looking
    cancelCut()
  }

  return {
    start,
    stop,
    /** Resolves when none is under way. */
    idle: async () => void (await looking),
    makeNow,
    latest: () => store.latest(clock.now()),
    list: (limit: number) => store.list(clock.now(), limit),
    retention: backupRetention(store, keep),
  }
}

const beingMade = () => conflict('a backup is running or has just ended')

const sizeOf = (file: string): Promise<number | null> =>
  stat(file).then(
    ({ size }) => size,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null
      throw error
    },
  )
