import { sleep, systemClock } from '../platform/clock.ts'
import { type ObjectStorage, objectUrlIn } from '../platform/object-storage/index.ts'
import { heldUntil, type Lease } from '../platform/replication/lease.ts'
import type { SharedFolder } from '../platform/replication/pair.ts'
import { markOf } from './data-directory.ts'
import { nameOfFile, txidText } from './empty-file.ts'
import { beginDatabase } from './generation.ts'
import { newPath } from './lease-watch.ts'
import type { Turn, TurnParts } from './turn.ts'

/** Where the database of this server goes, and which paths that one continues. */
export interface Data extends Pick<Lease, 'path' | 'bases'> {
  lossMs?: number
}

/**
 * Makes the copy of another server's database the one of this server. Undefined if that is no longer
 * wanted, or the copy can't be completed.
 */
export async function takeOver(
  parts: Pick<TurnParts, 'dataDir' | 'folder' | 'copy' | 'state' | 'log'>,
  { taken, before }: Turn,
  isWanted: () => boolean,
): Promise<Data | undefined> {
  const { dataDir, folder, copy, state, log } = parts
  const { lease } = taken
  const path = lease.next ?? newPath(lease.generation)
  const last = before?.lease ?? lease
  const began = systemClock.monotonic()
  const known = copy.txid() ?? 0n
  const newest = await insist(() => newestOf(folder, last, known), isWanted)
  if (newest === undefined) return undefined
  const txid = await copy.complete(lease, newest.txid, isWanted)
  if (txid === undefined) return undefined
  state.change({ isReleased: false, generation: 0 })
  const beginning = beginDatabase({ dataDir, copy: copy.file, txid, now: systemClock.now() })
  copy.discard()
  // Nothing is lost with it until it is served, so it need not be kept if that is no longer wanted.
  state.change({ isReleased: true, releasedMark: markOf(dataDir) })
  const url = objectUrlIn(objectUrlIn(objectUrlIn(folder.to, path), '0000'), beginning.name)
  await insist(() => folder.storage.write(url, beginning.content), isWanted)
  if (!isWanted()) return undefined
  state.change({ isReleased: false })
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
  // With the last known file, whose time says until when everything was uploaded.
  const after = known > 0n ? nameOfFile(known - 1n) : undefined
  const last = (await storage.list(level0, after)).at(-1)?.url
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
 * from its last upload to the end of its lease. All times are by its clock.
 */
function lossOf(last: Lease, cause: Lease['cause'], writtenAt: number): { lossMs?: number } {
  if (cause !== 'expiry' || last.acknowledge === 'replicated') return {}
  const stoppedAt = heldUntil(last.renewedAt, last)
  return { lossMs: Math.max(0, Math.round(stoppedAt - Math.max(writtenAt, last.uploadedAt ?? 0))) }
}
