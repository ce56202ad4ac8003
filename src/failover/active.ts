import { mkdirSync } from 'node:fs'
import { messageOf } from '../db/errors.ts'
import { databaseFile, openDatabase } from '../db/open.ts'
import { sleep, systemClock } from '../platform/clock.ts'
import type { Fence } from '../platform/fence.ts'
import type { Log } from '../platform/log.ts'
import { type ObjectStorage, objectUrlIn } from '../platform/object-storage/index.ts'
import type { Lease } from '../platform/replication/lease.ts'
import { type PairState, reasonAgainst, type SharedFolder } from '../platform/replication/pair.ts'
import type { Report } from '../platform/replication/reports.ts'
import { keyIdIn } from '../platform/replication/sealed-key.ts'
import { forgetProgress, listSetAside, type openServerState } from './data-directory.ts'
import { nameOfFile, txidText } from './empty-file.ts'
import { beginDatabase } from './generation.ts'
import { newPath } from './lease-watch.ts'
import type { Litestream } from './litestream.ts'
import { type Replicator, startReplicator } from './replicator.ts'
import type { Keys, Turn } from './standby.ts'
import { holdLease, type Tenure } from './tenure.ts'
import type { WarmCopy } from './warm-copy.ts'

/** The processes that serve while this server is active. */
export interface Serving {
  /** Resolves with false if they can't start. */
  isUp: Promise<boolean>
  /** Lets them finish their requests. Returns whether all went well. */
  stop: () => Promise<boolean>
  /** Kills them. */
  destroy: () => Promise<void>
  /** Tells them of the other servers. */
  tell: (state: PairState) => void
}

/** How a turn as the active server ended. */
export type Ending = 'lost' | 'released' | 'stopped' | 'failed'

export interface ActiveParts {
  dataDir: string
  folder: SharedFolder
  keys: Keys
  state: ReturnType<typeof openServerState>
  copy: WarmCopy
  litestream: Litestream
  fence: Fence
  log: Log
  /** Frees the port and starts the processes. */
  startServing: (generation: number) => Serving
  /** Resolves when this server has to end. */
  stopAsked: Promise<void>
}

/** Serves as the active server, until another one is to take over or has done so. */
export async function serveAsActive(parts: ActiveParts, turn: Turn): Promise<Ending> {
  const { folder, fence, log, state, dataDir } = parts
  const { taken, before, from } = turn
  const { generation, cause } = taken.lease
  const tenure = holdLease({ store: folder.leases, fence, log, taken })
  log.info('this server becomes active', { generation, cause, after: before?.lease.server.name })
  let isOver = false
  const over = Promise.race([
    tenure.lost.then((): Ending => 'lost'),
    tenure.handover.then((): Ending => {
      log.info('asked to step down', { by: tenure.lease().handover?.by })
      return 'released'
    }),
    parts.stopAsked.then((): Ending => 'stopped'),
  ]).finally(() => {
    isOver = true
  })
  const data = await dataOfTurn()
  if (data === undefined) {
    const ending = isOver ? await over : 'failed'
    if (ending !== 'lost') await tenure.release()
    return ending
  }
  const replicator = startReplicator({
    ...{ litestream: parts.litestream, path: data.path, database: databaseFile(dataDir), log },
  })
  const serving = parts.startServing(generation)
  const caring = careFor(parts, { tenure, replicator, serving, data })
  const failed = serving.isUp.then((isUp) => (isUp ? over : ('failed' as const)))
  const ending = await Promise.race([over, failed])
  return ending === 'lost' ? endAtOnce() : endInOrder(ending)

  /** Undefined if the turn was over before, or there was an error, which is logged. */
  async function dataOfTurn(): Promise<Data | undefined> {
    try {
      return from === 'own' ? ownData() : await dataOfCopy(parts, turn, () => !isOver)
    } catch (error) {
      log.error('this server cannot take over', { reason: messageOf(error) })
      return undefined
    }
  }

  function ownData(): Data {
    // A path that nobody has used begins with all of the database.
    if (cause === 'first') forgetProgress(dataDir)
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    openDatabase({ dataDir, synchronous: 'full', externalCheckpoint: true }).close()
    state.change({ generation, isReleased: false })
    return { path: taken.lease.path, bases: taken.lease.bases }
  }

  async function endAtOnce(): Promise<Ending> {
    caring.stop()
    await Promise.all([serving.destroy(), replicator.kill()])
    return 'lost'
  }

  async function endInOrder(ending: Ending): Promise<Ending> {
    // Standbys look more often from now on.
    void tenure.update({ state: 'ending' })
    const isClean = await Promise.race([serving.stop(), tenure.lost.then(() => undefined)])
    if (isClean === undefined) return endAtOnce()
    caring.stop()
    const isUploaded = await replicator.stop()
    if (isUploaded && (await tenure.release())) state.change({ isReleased: true })
    return isClean ? ending : 'failed'
  }
}

/** Where the database of this server goes, and which paths that one continues. */
interface Data extends Pick<Lease, 'path' | 'bases'> {
  lossMs?: number
}

/**
 * Makes the copy of another server's database the one of this server. Undefined if that is no longer
 * wanted.
 */
async function dataOfCopy(
  parts: ActiveParts,
  { taken, before }: Turn,
  isWanted: () => boolean,
): Promise<Data | undefined> {
  const { dataDir, folder, copy, state, log } = parts
  const { lease } = taken
  const last = before?.lease ?? lease
  const began = systemClock.monotonic()
  const known = copy.txid() ?? 0n
  const newest = await insist(() => newestOf(folder, last, known), isWanted)
  if (newest === undefined) return undefined
  const txid = await copy.complete(lease, newest.txid, isWanted)
  if (txid === undefined) return undefined
  const path = newPath(lease.generation)
  state.change({ isReleased: false, generation: 0 })
  const beginning = beginDatabase({ dataDir, copy: copy.file, txid, now: systemClock.now() })
  copy.discard()
  const url = objectUrlIn(objectUrlIn(objectUrlIn(folder.to, path), '0000'), beginning.name)
  await insist(() => folder.storage.write(url, beginning.content), isWanted)
  const ms = Math.round(systemClock.monotonic() - began)
  log.info('the copy is the database now', { txid: txidText(txid), ms })
  const bases = [...lease.bases, { path: lease.path, txid: txidText(txid) }]
  return { path, bases, ...lossOf(last, lease.cause, newest.writtenAt) }
}

const RETRY_MS = 200

/** Repeats what object storage refuses. Undefined if the result is no longer wanted. */
async function insist<T>(work: () => Promise<T>, isWanted: () => boolean): Promise<T | undefined> {
  while (isWanted())
    try {
      return await work()
    } catch {
      await sleep(systemClock, RETRY_MS)
    }
  return undefined
}

/** The last transaction that a former active server has uploaded, and when, by its clock. */
async function newestOf({ storage, to }: SharedFolder, lease: Lease, known: bigint) {
  const level0 = objectUrlIn(objectUrlIn(to, lease.path), '0000')
  const last = (await storage.list(level0, nameOfFile(known))).at(-1)?.url
  const named = last?.match(/-([0-9a-f]{16})\.ltx$/)?.[1]
  const all = [known, BigInt(`0x${lease.txid ?? '0'}`), BigInt(`0x${named ?? '0'}`)]
  const txid = all.reduce((most, one) => (one > most ? one : most))
  const isOfInterest = last !== undefined && lease.acknowledge === 'local'
  return { txid, writtenAt: isOfInterest ? await writtenAt(storage, last).catch(() => 0) : 0 }
}

/** When a file of Litestream was written, from its header. */
const writtenAt = async (storage: ObjectStorage, url: string): Promise<number> =>
  Number((await storage.readStart(url, 40)).readBigUInt64BE(32))

/**
 * For how long the former active server may have acknowledged writes that were not uploaded: at most
 * from its last upload to the renewal that it missed. All times are by its clock.
 */
function lossOf(last: Lease, cause: Lease['cause'], writtenAt: number): { lossMs?: number } {
  if (cause !== 'expiry' || last.acknowledge === 'replicated') return {}
  const stoppedAt = last.renewedAt + last.ttlMs / 3
  return { lossMs: Math.max(0, Math.round(stoppedAt - Math.max(writtenAt, last.uploadedAt ?? 0))) }
}

/** Everything that goes on beside the requests, until it is stopped. */
function careFor(
  parts: ActiveParts,
  on: { tenure: Tenure; replicator: Replicator; serving: Serving; data: Data },
) {
  const { folder, fence, log, state, keys, dataDir } = parts
  const { tenure, replicator, serving, data } = on
  const { ttlMs, generation } = tenure.lease()
  let isOver = false
  let reports: Report[] = []
  let standbyAt = systemClock.now()
  const publishing = publish().catch((error) =>
    log.error('the lease cannot name the new path', { reason: messageOf(error) }),
  )
  void run()

  /** Confirmations count once other servers know where to find what is uploaded. */
  async function publish() {
    const txid = await replicator.uploadSurely(() => !isOver)
    if (isOver) return
    await tenure.update({ ...data, ...(txid && { txid }) })
    state.change({ generation })
    fence.publish()
  }

  async function run() {
    await publishing
    for (; !isOver; await sleep(systemClock, ttlMs / 3))
      for (const task of [noteUpload, storeKey, dropBases, tell])
        await task().catch((error) =>
          log.debug('a task of the active server failed', { reason: messageOf(error) }),
        )
  }

  async function noteUpload() {
    const uploadedAt = systemClock.now()
    const txid = await replicator.upload(ttlMs)
    if (txid) tenure.note({ txid, uploadedAt })
  }

  async function storeKey() {
    const keyId = keyIdIn(dataDir)
    if (keyId === undefined || keyId === tenure.lease().keyId) return
    if (keys.canSeal) await keys.store()
    tenure.note({ keyId })
  }

  /** A path with a snapshot of its own needs no other one. */
  async function dropBases() {
    const { bases, path, obsolete } = tenure.lease()
    if (bases.length === 0) return
    const snapshots = await folder.storage.list(objectUrlIn(objectUrlIn(folder.to, path), '0009'))
    if (snapshots.length === 0) return
    for (const old of obsolete) await folder.storage.removeFolder(objectUrlIn(folder.to, old))
    // These stay until the next server takes over, in case one of them has to be looked at.
    await tenure.update({ bases: [], obsolete: bases.map((base) => base.path) })
  }

  async function tell() {
    reports = await folder.reports.list().catch(() => reports)
    const now = systemClock.now()
    const { generation, server, since, cause, from, lossMs, ttlMs, txid } = tenure.lease()
    const standbys = reports.filter(({ id }) => id !== server.id)
    if (standbys.some((report) => reasonAgainst(report, now, ttlMs) === undefined)) standbyAt = now
    serving.tell({
      lease: { generation, server, since, cause, ttlMs, ...given({ from, lossMs, txid }) },
      problem: tenure.problem(),
      standbys,
      standbyAt,
      setAside: listSetAside(dataDir),
    })
  }

  return {
    stop: () => {
      isOver = true
    },
  }
}

/** The members that are not undefined. */
const given = <T extends object>(members: T) =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
