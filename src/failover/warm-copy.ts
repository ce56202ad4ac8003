import { existsSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { messageOf } from '../db/errors.ts'
import { sleep, systemClock } from '../platform/clock.ts'
import { readIfAny, writeDurably } from '../platform/files.ts'
import type { Log, LogFields } from '../platform/log.ts'
import type { Lease } from '../platform/replication/lease.ts'
import { txidText } from './empty-file.ts'
import type { Litestream, LitestreamProcess, Pace } from './litestream.ts'

const LOOK_MS = 10
/** How long a run may take to end. */
const STOP_MS = 5000
/** Delays before a run that ended is started again. The last one is shorter if each moment counts. */
const FIRST_RESTART_MS = 500
const LAST_RESTART_MS = 30_000
const LAST_URGENT_RESTART_MS = 1000
/**
 * A copy that is behind and doesn't change while runs follow it for this long is followed by a new
 * run, and then made again: at leisure, or while no server serves.
 */
const STUCK_MS = 60_000
const STUCK_WHILE_NEEDED_MS = 10_000
/** What a run that fails adds to that, so that a server whose runs all fail gives up its lease. */
const FAILED_RUN_MS = 500

/** Where a copy is to be: on a path, up to a transaction if a later path continues from there. */
interface Segment {
  path: string
  until: bigint | undefined
}

export type WarmCopy = ReturnType<typeof createWarmCopy>

/** Keeps a copy of the database of the active server, to be ready within seconds. */
export function createWarmCopy(parts: { litestream: Litestream; folder: string; log: Log }) {
  const { litestream, folder, log } = parts
  const file = join(folder, 'gatehouse.db')
  const position = `${file}-txid`
  const source = join(folder, 'source')
  let running: (LitestreamProcess & { pace: Pace }) | undefined
  let failures = 0
  let failedAt = Number.NEGATIVE_INFINITY
  let stuck = notStuck()
  let lookedAt = 0

  /** The last transaction that is in the copy; undefined if there is none. */
  function txid(): bigint | undefined {
    if (!existsSync(file)) return undefined
    const text = readIfAny(position)
    return text === undefined ? undefined : BigInt(`0x${text.trim()}`)
  }

  /** The path that the copy follows. */
  const path = () => readIfAny(source)

  /** Whether the copy only lacks the newest transactions of the active server. */
  const isReady = ({ path: wanted }: Lease) => path() === wanted && txid() !== undefined

  /** Follows what the holder of a lease uploads. Called again and again; it keeps doing that. */
  async function follow(lease: Lease, pace: Pace = 'calm', stuckMs = STUCK_MS) {
    if (running && isTooSlow(running.pace, pace) && txid() !== undefined) await end()
    const segments = segmentsOf(lease)
    const at = txid()
    const index = segments.findIndex((segment) => segment.path === path())
    const segment = segments[index]
    if (!segment || (at !== undefined && isBeyond(at, segment))) return startOver(segments[0])
    const next = segments[index + 1]
    if (next && at !== undefined && at === segment.until) return moveOn(segment, next)
    if (at !== undefined && isStuck(at, lease, stuckMs)) return free()
    if (running?.isRunning() || systemClock.monotonic() < failedAt + delay(pace)) return
    begin(segment, at, pace)
  }

  function begin({ path, until }: Segment, at: bigint | undefined, pace: Pace) {
    const startedAt = systemClock.monotonic()
    // A file without a position is what a run left behind that was killed.
    if (at === undefined) discardFiles()
    const restored = at === undefined ? until : undefined
    const run =
      restored === undefined
        ? litestream.follow(path, file, pace)
        : litestream.restore(path, txidText(restored), file)
    const current = { ...run, pace }
    running = current
    void run.exited
      .then((code) => {
        // Without a copy, the run failed to make one, however long it took.
        const hasLasted = systemClock.monotonic() - startedAt > STUCK_MS
        if (hasLasted && txid() !== undefined) failures = 0
        if (running !== current) return
        if (code !== 0 || restored === undefined) fail({ path, code })
        else writeDurably(position, `${txidText(restored)}\n`)
        if (isTooOld(run)) discard()
      })
      .catch((error) => fail({ path, reason: messageOf(error) }))
  }

  function fail(why: LogFields) {
    log.warn('the copy of the database cannot be followed', why)
    failures++
    failedAt = systemClock.monotonic()
    stuck.ms += FAILED_RUN_MS
  }

  /** How long after a failure the next run starts. */
  const delay = (pace: Pace) =>
    Math.min(
      FIRST_RESTART_MS * 2 ** (failures - 1),
      pace === 'urgent' ? LAST_URGENT_RESTART_MS : LAST_RESTART_MS,
    )

  /** Goes on with the path that continues the one which ends here. */
  async function moveOn(segment: Segment, next: Segment) {
    await end()
    if (isClean() && txid() === segment.until) writeDurably(source, next.path)
    else discard()
  }

  async function startOver(first: Segment | undefined) {
    await end()
    discard()
    if (!first) return
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    writeDurably(source, first.path)
  }

  function isStuck(at: bigint, lease: Lease, stuckMs: number): boolean {
    const now = systemClock.monotonic()
    const isBehind = lease.txid !== undefined && at < BigInt(`0x${lease.txid}`)
    const mark = `${at} ${statSync(file).mtimeMs}`
    if (mark !== stuck.mark || !isBehind) stuck = notStuck(mark)
    // A copy can't move while it waits for the next run.
    else if (running?.isRunning()) stuck.ms += now - lookedAt
    lookedAt = now
    return stuck.ms > stuckMs
  }

  /** Litestream can stop to follow without an error, and a copy can be too old to be followed. */
  async function free() {
    log.warn('the copy of the database does not move', { isMadeAgain: stuck.isRetried })
    await end()
    if (stuck.isRetried) discard()
    stuck = { ...stuck, ms: 0, isRetried: true }
  }

  async function end() {
    const run = running
    running = undefined
    if (!run) return
    run.stop()
    const late = systemClock.after(STOP_MS, run.kill)
    await run.exited
    late()
  }

  function discard() {
    discardFiles()
    rmSync(source, { force: true })
  }

  function discardFiles() {
    for (const name of [file, `${file}.tmp`, `${file}-wal`, `${file}-shm`, position])
      rmSync(name, { force: true })
  }

  /**
   * Brings the copy up to a transaction, stops to follow, and returns the last transaction in the
   * copy. Undefined if that is no longer wanted, or the copy can't be completed and has to be made again.
   */
  async function complete(
    lease: Lease,
    newest: bigint,
    isWanted: () => boolean,
  ): Promise<bigint | undefined> {
    // What happened at leisure must neither delay the first run nor use up the time of this one.
    failedAt = Number.NEGATIVE_INFINITY
    stuck = notStuck()
    for (let wanted = newest; isWanted(); wanted++) {
      while ((txid() ?? -1n) < wanted) {
        if (!isWanted()) return undefined
        await follow({ ...lease, txid: txidText(wanted) }, 'urgent', STUCK_WHILE_NEEDED_MS)
        if (txid() === undefined) return undefined
        await sleep(systemClock, LOOK_MS)
      }
      await end()
      const at = txid()
      if (at !== undefined && isClean()) return at
      // A former active server still uploads, and its next file was applied in part. It has to be whole.
      wanted = at ?? wanted
    }
    return undefined
  }

  /** Whether the copy is exactly at its position: no file was applied in part. */
  const isClean = () => statSync(file).mtimeMs <= statSync(position).mtimeMs

  return { folder, file, txid, path, isReady, follow, complete, end, discard }
}

/** A copy that has just moved. */
const notStuck = (mark = '') => ({ mark, ms: 0, isRetried: false })

/** Another pace takes a new run, which first lists all levels: not worth it for a busy one. */
const isTooSlow = (is: Pace, wanted: Pace) =>
  is !== wanted && !(is === 'busy' && wanted === 'urgent')

/** Litestream says so in words only. */
const isTooOld = (run: LitestreamProcess) => run.lastLine().includes('to re-restore')

const isBeyond = (at: bigint, { until }: Segment) => until !== undefined && at > until

const segmentsOf = ({ bases, path }: Lease): Segment[] => [
  ...bases.map((base) => ({ path: base.path, until: BigInt(`0x${base.txid}`) })),
  { path, until: undefined },
]
