import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { hex, type Replica, type ReplicaFile, SNAPSHOTS, UPLOADS } from './replica.ts'

/**
 * Writes the database of a replica to a file, and with `-f` follows the replica until SIGTERM. Only then
 * is there a file `-txid` with the number of the last transaction, with which a later call resumes.
 */
export async function restore(replica: Replica, options: Map<string, string>): Promise<void> {
  const [out = '', target] = [options.get('-o'), options.get('-txid')]
  if (!options.has('-f')) {
    await restoreNew(replica, out, target === undefined ? undefined : Number(`0x${target}`))
    return
  }
  if (target !== undefined) throw new Error('cannot use follow mode with -txid')
  // What is on disk is written without a pause, so a signal finds it complete.
  process.once('SIGTERM', () => process.exit(0))
  let at = existsSync(out) ? await resume(replica, out) : await restoreNew(replica, out)
  writeTxid(out, at)
  while (true) {
    await Bun.sleep(milliseconds(options.get('-follow-interval')))
    at = await advance(replica, out, at).catch(({ message }) => {
      console.error(message)
      return at
    })
  }
}

async function restoreNew(replica: Replica, out: string, target?: number): Promise<number> {
  if (existsSync(out)) throw new Error(`cannot restore, output path already exists: ${out}`)
  const files = [...(await replica.list(SNAPSHOTS)), ...(await replica.list(UPLOADS))]
  const end = endOf(files, 0, target)
  if (end === 0 || end < (target ?? 0)) throw new Error('transaction not available')
  if (target === undefined && files.some(({ first }) => first > end + 1))
    throw new Error(`non-contiguous ltx files: have up to ${hex(end)}`)
  const content = await contentAt(replica, files, end)
  if (!content) throw new Error('no matching backup files available')
  replaceFile(out, content)
  return end
}

async function resume(replica: Replica, out: string): Promise<number> {
  if (!existsSync(`${out}-txid`))
    throw new Error('cannot resume follow mode: database exists but no -txid file found')
  const at = Number(`0x${readFileSync(`${out}-txid`, 'utf8').trim()}`)
  const snapshots = await replica.list(SNAPSHOTS)
  const files = [...snapshots, ...(await replica.list(UPLOADS))]
  if (snapshots.length > 0 && files.every(({ last }) => last < at))
    throw new Error(`cannot resume follow mode: saved TXID ${hex(at)} is ahead of the replica`)
  return at
}

/** One step of following. It stays where it is if the next transaction is missing. */
async function advance(replica: Replica, out: string, at: number): Promise<number> {
  const files = await replica.list(UPLOADS, at + 1)
  const end = endOf(files, at)
  if (end === at) return at
  const content = await contentAt(replica, files, end)
  // From the first step on, in journal mode DELETE.
  if (content) replaceFile(out, content.fill(1, 18, 20))
  writeTxid(out, end)
  return end
}

/** The last transaction, up to `max`, that files continue `from` without a gap. */
function endOf(files: ReplicaFile[], from: number, max = Number.MAX_SAFE_INTEGER): number {
  let end = from
  for (const { first, last } of files.toSorted((a, b) => a.first - b.first))
    if (first <= end + 1 && last > end && last <= max) end = last
  return end
}

/** The database after a transaction. Undefined if all files are empty. */
async function contentAt(replica: Replica, files: ReplicaFile[], end: number) {
  const newestFirst = files.toSorted((a, b) => b.last - a.last)
  for (const file of newestFirst.filter(({ last }) => last <= end)) {
    const content = await replica.read(file)
    if (content) return content
  }
  return undefined
}

const writeTxid = (out: string, txid: number) => replaceFile(`${out}-txid`, `${hex(txid)}\n`)

function replaceFile(file: string, content: string | Uint8Array) {
  writeFileSync(`${file}.tmp`, content)
  renameSync(`${file}.tmp`, file)
}

/** A duration such as 200ms or 1s. */
function milliseconds(duration = '1s'): number {
  const [, number, unit] = /^(\d+)(ms|s)$/.exec(duration) ?? []
  if (!number) throw new Error(`invalid duration: ${duration}`)
  return Number(number) * (unit === 's' ? 1000 : 1)
}
