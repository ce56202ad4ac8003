import { messageOf } from '../db/errors.ts'
import { sleep, systemClock } from '../platform/clock.ts'
import { objectUrlIn } from '../platform/object-storage/index.ts'
import { reasonAgainst } from '../platform/replication/pair.ts'
import type { Report } from '../platform/replication/reports.ts'
import { keyIdIn } from '../platform/replication/sealed-key.ts'
import { listSetAside } from './data-directory.ts'
import type { Replicator } from './replicator.ts'
import type { Data } from './takeover.ts'
import type { Tenure } from './tenure.ts'
import type { Serving, TurnParts } from './turn.ts'

/** Begins everything that an active server does beside its requests, until it is stopped. */
export function startUpkeep(
  parts: TurnParts,
  on: { tenure: Tenure; replicator: Replicator; serving: Serving; data: Data },
) {
  const { folder, fence, log, state, keys, dataDir } = parts
  const { tenure, replicator, serving, data } = on
  const { ttlMs, generation } = tenure.lease()
  let isOver = false
  let reports: Report[] = []
  let storedKeyId: string | undefined
  const problems = new Map<() => Promise<void>, string>()
  let standbyAt = systemClock.now()
  void run()

  /** Confirmations count once other servers know where to find what is uploaded. */
  async function publish() {
    const txid = await replicator.uploadSurely(() => !isOver)
    if (isOver) return
    await tenure.update({ ...data, ...(txid && { txid }) })
    fence.publish()
  }

  async function run() {
    await publish()
    for (; !isOver; await sleep(systemClock, ttlMs / 3))
      for (const task of [noteGeneration, noteUpload, storeKey, dropBases, tell])
        await task().then(
          () => problems.delete(task),
          (error) => note(task, messageOf(error)),
        )
  }

  /** Says a problem once, as long as it stays the same. */
  function note(task: () => Promise<void>, reason: string) {
    if (problems.get(task) === reason) return
    problems.set(task, reason)
    log.warn('the active server cannot do all of its work', { reason })
  }

  /** Again and again, because the disk can be full. */
  async function noteGeneration() {
    if (state.get().generation !== generation) state.change({ generation })
  }

  async function noteUpload() {
    const uploadedAt = systemClock.now()
    const txid = await replicator.upload(ttlMs)
    if (txid) tenure.note({ txid, uploadedAt })
  }

  async function storeKey() {
    const keyId = keyIdIn(dataDir)
    if (keyId === undefined || keyId === storedKeyId) return
    try {
      if (keys.canSeal) await keys.store()
      storedKeyId = keyId
    } finally {
      // A standby that can't get the key could not open what is sealed with it, and says so.
      tenure.note({ keyId })
    }
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
    const lease = tenure.lease()
    const standbys = reports.filter(({ id }) => id !== lease.server.id)
    if (standbys.some((report) => reasonAgainst(report, now, ttlMs) === undefined)) standbyAt = now
    serving.tell({
      lease,
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
