import { messageOf } from '../db/errors.ts'
import { sleep, systemClock } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { answersOn, syncWithLitestream } from '../platform/replication/litestream.ts'
import { txidText } from './empty-file.ts'
import type { Litestream, LitestreamProcess } from './litestream.ts'

/** Delays before Litestream is started again. */
const FIRST_RESTART_MS = 100
const LAST_RESTART_MS = 5000
const RETRY_MS = 50
/** How long Litestream may take to end. */
const STOP_MS = 10_000
/** A Litestream that answers nothing for `SILENT_MS` hangs. */
const LOOK_MS = 5000
const SILENT_MS = 30_000
/** How long the last upload may take. */
const LAST_UPLOAD_MS = 20_000

export type Replicator = ReturnType<typeof startReplicator>

/** Keeps Litestream running, which uploads the database to a path. */
export function startReplicator(parts: {
  litestream: Litestream
  path: string
  database: string
  log: Log
}) {
  const { litestream, path, database, log } = parts
  let isOver = false
  let failures = 0
  let child: LitestreamProcess = litestream.replicate(path)
  const running = keep()
  void watch()

  async function keep() {
    for (;;) {
      const startedAt = systemClock.monotonic()
      const code = await child.exited
      if (isOver) return
      if (systemClock.monotonic() - startedAt > LAST_RESTART_MS) failures = 0
      log.error('Litestream ended and is started again', { code })
      await sleep(systemClock, Math.min(FIRST_RESTART_MS * 2 ** failures++, LAST_RESTART_MS))
      if (isOver) return
      child = startedAgain() ?? child
    }
  }

  /** Undefined if it cannot be started now, such as with a full disk. */
  function startedAgain(): LitestreamProcess | undefined {
    try {
      return litestream.replicate(path)
    } catch (error) {
      log.error('Litestream cannot be started', { reason: messageOf(error) })
      return undefined
    }
  }

  /** Kills a Litestream that hangs, so that it is started again. */
  async function watch() {
    let answeredAt = systemClock.monotonic()
    for (; !isOver; await sleep(systemClock, LOOK_MS)) {
      const isAnswering = await answersOn(litestream.socket, LOOK_MS)
      if (isAnswering) answeredAt = systemClock.monotonic()
      if (systemClock.monotonic() - answeredAt < SILENT_MS) continue
      log.error('Litestream does not answer and is killed')
      child.kill()
      answeredAt = systemClock.monotonic()
    }
  }

  /** Uploads what is committed now and returns the last transaction. */
  async function upload(timeoutMs: number): Promise<string | undefined> {
    const { replicated_txid: txid } = await syncWithLitestream({
      ...{ socket: litestream.socket, file: database, timeoutMs },
    })
    return txid === undefined ? undefined : txidText(BigInt(txid))
  }

  /** The same, as often as it takes. Undefined if that is no longer wanted. */
  async function uploadSurely(isWanted: () => boolean): Promise<string | undefined> {
    while (!isOver && isWanted())
      try {
        return await upload(LAST_UPLOAD_MS)
      } catch {
        await sleep(systemClock, RETRY_MS)
      }
    return undefined
  }

  /** Ends Litestream. Returns whether all that is committed was uploaded before. */
  async function stop(): Promise<boolean> {
    const until = systemClock.monotonic() + LAST_UPLOAD_MS
    const last = await uploadSurely(() => systemClock.monotonic() < until)
    isOver = true
    // With nothing left to upload, it would take two seconds to end by itself, while no server serves.
    if (last === undefined) child.stop()
    else child.kill()
    const late = systemClock.after(STOP_MS, child.kill)
    await child.exited
    late()
    return last !== undefined
  }

  async function kill() {
    isOver = true
    child.kill()
    await running
  }

  return { upload, uploadSurely, stop, kill }
}
