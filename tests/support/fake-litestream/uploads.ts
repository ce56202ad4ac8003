import { Database } from 'bun:sqlite'
import { type Replica, SNAPSHOTS, UPLOADS } from './replica.ts'

/** What a transaction number stands for. It never changes, because a follower may have it already. */
interface Upload {
  txid: number
  body: Uint8Array
}

/** The uploads of one database, one after the other. They continue those that the bucket has. */
export function createUploads(path: string, replica: Replica) {
  let database: Database | undefined
  let version: number | undefined
  let last: Partial<Upload> | undefined
  let pending: Upload | undefined
  let hasSnapshot = false
  let queue: Promise<unknown> = Promise.resolve()

  /** Uploads everything that was committed before the call. Returns whether that gave a new number. */
  function sync(): Promise<boolean> {
    const result = queue.then(syncNow)
    queue = result.catch(() => {})
    return result
  }

  async function syncNow(): Promise<boolean> {
    last ??= await begin()
    await upload()
    const isChanged = readChange()
    await upload()
    return isChanged
  }

  async function begin(): Promise<Partial<Upload>> {
    hasSnapshot = (await replica.list(SNAPSHOTS)).length > 0
    return { txid: (await replica.list(UPLOADS)).at(-1)?.last ?? 0 }
  }

  /** Reads version and content in one transaction, so that no commit falls between them. */
  function readChange(): boolean {
    database ??= new Database(path, { readonly: true })
    const db = database
    return db.transaction(() => {
      const { data_version: current } = db.query('PRAGMA data_version').get() as Version
      if (current === version) return false
      pending = { txid: txid() + 1, body: Bun.zstdCompressSync(db.serialize(), { level: 1 }) }
      version = current
      return true
    })()
  }

  async function upload() {
    if (!pending) return
    await replica.store(UPLOADS, pending.txid, pending.txid, pending.body)
    last = pending
    pending = undefined
  }

  /** A replica without a snapshot gets one from what was uploaded last. */
  async function snapshot() {
    if (hasSnapshot || !last?.txid || !last.body) return
    await replica.store(SNAPSHOTS, 1, last.txid, last.body)
    hasSnapshot = true
  }

  /** The number of the last upload. */
  const txid = () => last?.txid ?? 0

  return { sync, snapshot, txid }
}

interface Version {
  data_version: number
}
