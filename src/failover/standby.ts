import { existsSync } from 'node:fs'
import { migrations } from '../../drizzle/index.ts'
import { messageOf } from '../db/errors.ts'
import { databaseFile } from '../db/open.ts'
import { bootMs } from '../platform/boot-clock.ts'
import { systemClock } from '../platform/clock.ts'
import { MINUTE_MS } from '../platform/durations.ts'
import type { Log } from '../platform/log.ts'
import { objectUrlIn } from '../platform/object-storage/index.ts'
import type { Lease } from '../platform/replication/lease.ts'
import type { SharedFolder } from '../platform/replication/pair.ts'
import { requireAtomicWrites } from '../platform/replication/probe.ts'
import type { Report } from '../platform/replication/reports.ts'
import { keyIdIn } from '../platform/replication/sealed-key.ts'
import { VERSION } from '../platform/version.ts'
import {
  forgetProgress,
  hasDatabaseFiles,
  hasNoData,
  isAllUploaded,
  lastTxidIn,
  listSetAside,
  type openServerState,
  removeDatabase,
  setAside,
} from './data-directory.ts'
import { nameOfFile } from './empty-file.ts'
import { createLeaseWatch } from './lease-watch.ts'
import type { Pace } from './litestream.ts'
import type { Keys, Turn } from './turn.ts'
import type { WarmCopy } from './warm-copy.ts'

/** For how long the files of an active server are counted, and how many a second are many. */
const PACE_SECONDS = 15
const BUSY_FILES = 0.5

/** How long a server that stepped down leaves the lease to others, in times to live. */
const YIELDS = 3

export type Standby = ReturnType<typeof createStandby>

/** Follows the active server, and takes the lease once that is gone. */
export function createStandby(parts: {
  me: Lease['server']
  ttlMs: number
  acknowledge: Lease['acknowledge']
  dataDir: string
  folder: SharedFolder
  keys: Keys
  state: ReturnType<typeof openServerState>
  copy: WarmCopy
  log: Log
  /** Whether it waits for a first active server instead of becoming it. */
  waits: boolean
}) {
  const { me, ttlMs, acknowledge, dataDir, folder, keys, state, copy, log, waits } = parts
  const watch = createLeaseWatch({ store: folder.leases, me, ttlMs, acknowledge })
  let yielded: { nonce: string; untilMs: number } | undefined
  let lease: Lease | undefined
  let reason: string | undefined = 'it has just started'
  let caughtUpAt: number | undefined
  let reported: { atMs: number; reason: string | undefined } | undefined
  let isProbed = false
  let paced = { atMs: bootMs(), txid: 0n, pace: 'busy' as Pace }
  let keyProblem = { reason: '', untilMs: Number.NEGATIVE_INFINITY }

  /** Looks at the lease once. Returns a turn if it could take it. */
  async function look(): Promise<Turn | undefined> {
    const { stored, isExpired } = await watch.look()
    lease = stored?.lease
    if (!stored) return takeFirst()
    const isOwn = await ownsDataOf(stored.lease)
    if (!isOwn) await prepare(stored.lease)
    reason = isOwn ? undefined : reasonAgainst(stored.lease)
    void report()
    if (reason !== undefined || !isFree(stored.lease, isExpired)) return undefined
    const taken = await watch.take(stored, causeOf(stored.lease, isOwn))
    return taken && { taken, before: stored, from: isOwn ? 'own' : 'copy' }
  }

  async function takeFirst(): Promise<Turn | undefined> {
    reason = reasonAgainstFirst()
    if (reason !== undefined) return undefined
    if (!isProbed) await requireAtomicWrites(folder)
    isProbed = true
    // A new path begins with all of the database.
    forgetProgress(dataDir)
    const taken = await watch.take(undefined, 'first')
    return taken && { taken, before: undefined, from: 'own' }
  }

  function reasonAgainstFirst(): string | undefined {
    if (waits) return 'it waits for a first active server'
    if (existsSync(databaseFile(dataDir)) || copy.path() === undefined) return undefined
    return `${folder.leases.url} is gone. Start the server that was active last, or remove ${copy.folder} to begin without data`
  }

  /**
   * Whether no other server was active since, and the disk of this one was not set back. It may
   * have stopped between taking the lease for its own data and noting that, or creating a database.
   */
  async function ownsDataOf({ server, generation, path, cause, keyId }: Lease) {
    const isNoted = state.get().generation === generation
    if (server.id !== me.id || !(isNoted || cause === 'first' || cause === 'restart')) return false
    const hasDatabase = existsSync(databaseFile(dataDir))
    if (!hasDatabase && keyId !== undefined) return false
    const here = hasDatabase ? lastTxidIn(dataDir) : 0n
    const level0 = objectUrlIn(objectUrlIn(folder.to, path), '0000')
    return (await folder.storage.list(level0, nameOfFile(here))).length === 0
  }

  async function prepare(current: Lease) {
    if (hasDatabaseFiles(dataDir)) clearAway(current)
    await copy.follow(current, isUrgent() ? 'urgent' : paceFor(current))
    const txid = copy.txid()
    if (txid !== undefined && txid >= BigInt(`0x${current.txid ?? '0'}`))
      caughtUpAt = systemClock.monotonic()
    await ensureKey(current)
  }

  function clearAway({ generation, server }: Lease) {
    const before = state.get()
    if (hasNoData(dataDir) || isAllUploaded(dataDir, before)) return removeDatabase(dataDir)
    const to = setAside(dataDir, before, systemClock.now())
    log.error('the database was set aside, because another server has taken over since', {
      folder: to,
      active: server.name,
      generation,
    })
  }

  /** A wrong passphrase takes a second to try, so it is tried rarely. */
  async function ensureKey({ keyId }: Lease) {
    if (keyId === undefined || keyIdIn(dataDir) === keyId || !keys.canSeal) return
    if (systemClock.monotonic() < keyProblem.untilMs) return
    try {
      await keys.fetch()
      log.info('master.key was received', { keyId })
    } catch (error) {
      keyProblem = { reason: messageOf(error), untilMs: systemClock.monotonic() + MINUTE_MS }
    }
  }

  function reasonAgainst(current: Lease): string | undefined {
    if (!copy.isReady(current)) return 'its copy of the database is not complete yet'
    const { keyId, schema, version } = current
    if (!migrations.some(({ id }) => id === schema))
      return `it runs ${VERSION}, which does not know the database of ${version}. Upgrade it`
    if (keyId === undefined) return 'the active server has not reported its master.key yet'
    if (keyIdIn(dataDir) === keyId) return undefined
    return keys.canSeal
      ? `it cannot get master.key: ${keyProblem.reason}`
      : `it does not have master.key (${keyId}). Copy the file, or set [replication] key_file on all servers`
  }

  /** Whether its holder has stopped, or has given it up for this server among others. */
  function isFree({ state, handover, nonce }: Lease, isExpired: boolean): boolean {
    if (state !== 'released') return isExpired
    if (nonce === yielded?.nonce && bootMs() < yielded.untilMs) return false
    return isExpired || handover?.to === undefined || handover.to === me.id
  }

  /** How closely to follow, by how many files the active server uploads. */
  function paceFor({ txid = '0' }: Lease): Pace {
    const [atMs, reached] = [bootMs(), BigInt(`0x${txid}`)]
    const seconds = (atMs - paced.atMs) / 1000
    if (seconds < PACE_SECONDS) return paced.pace
    const files = Number(reached - paced.txid)
    paced = { atMs, txid: reached, pace: files / seconds > BUSY_FILES ? 'busy' : 'calm' }
    return paced.pace
  }

  /** Whether the lease changes hands now, so that each moment counts. */
  const isUrgent = () =>
    lease !== undefined && (lease.state !== 'held' || lease.handover !== undefined)

  const lagMs = () =>
    caughtUpAt === undefined ? 0 : Math.max(0, Math.round(systemClock.monotonic() - caughtUpAt))

  const reportOfNow = (): Report => ({
    ...me,
    version: VERSION,
    isReady: reason === undefined,
    ...(reason !== undefined && { reason }),
    lagMs: lagMs(),
    setAside: listSetAside(dataDir),
    reportedAt: systemClock.now(),
  })

  async function report() {
    const atMs = bootMs()
    if (reported && reported.reason === reason && atMs - reported.atMs < ttlMs) return
    reported = { atMs, reason }
    try {
      await folder.reports.write(reportOfNow())
    } catch (error) {
      log.warn('the report of this standby cannot be stored', { reason: messageOf(error) })
    }
  }

  return {
    look,
    lease: () => lease,
    report: reportOfNow,
    isUrgent,
    /** Leaves a lease that this server gave up to others for a while. */
    yield: (nonce: string) => {
      yielded = { nonce, untilMs: bootMs() + YIELDS * ttlMs }
    },
    /** Forgets what was reported and seen, at the end of a turn as the active server. */
    begin: () => {
      caughtUpAt = undefined
      reported = undefined
      reason = 'it has just started'
    },
  }
}

function causeOf({ state }: Lease, isOwn: boolean): Lease['cause'] {
  if (isOwn) return 'restart'
  return state === 'released' ? 'handover' : 'expiry'
}
