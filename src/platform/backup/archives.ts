import { createReadStream } from 'node:fs'
import { lstat, rm } from 'node:fs/promises'
import { basename } from 'node:path'
import { Readable } from 'node:stream'
import { messageOf } from '../../db/errors.ts'
import type { Db } from '../../db/open.ts'
import type { Clock } from '../clock.ts'
import { conflict, fail, notFound } from '../errors.ts'
import { type CheckArchive, checkInChild } from './child.ts'
import { createReach, type Reach } from './reach.ts'
import type { BackupRow, createBackupStore } from './store.ts'
import { withoutKey } from './without-key.ts'

/** A backup and its file; `bytes` is null if the file is gone. */
export interface Archive extends BackupRow {
  name: string
  isThere: boolean
}

/** The result of a check: what the archive contains, or why it can't be restored. */
export type ArchiveCheck = { databaseBytes: number; hasKey: boolean } | { problem: string }

/** Longer checks have to be made on the command line, because a page waits for this one. */
const MAX_CHECK_MS = 25_000

/** The files of recorded backups, made by the schedule or by command. */
export function createArchives(parts: {
  db: Db
  clock: Clock
  store: ReturnType<typeof createBackupStore>
  checkArchive?: CheckArchive | undefined
}) {
  const { db, clock, store, checkArchive = checkInChild } = parts
  const reach = inTurn(createReach(clock))

  const sizeOf = (file: string): Promise<number | undefined> =>
    reach(file, async () => {
      const stats = await lstat(file)
      // Another account could have put a link in its place.
      return stats.isFile() ? stats.size : undefined
    }).catch(() => undefined)

  async function archiveOf(row: BackupRow): Promise<Archive> {
    const isThere = row.endedAt !== null && (await sizeOf(row.file)) !== undefined
    return { ...row, name: basename(row.file), isThere }
  }

  /** Newest first. */
  const list = (limit: number): Promise<Archive[]> =>
    Promise.all(store.list(clock.now(), limit).map(archiveOf))

  const find = async (id: string): Promise<Archive> =>
    archiveOf(store.find(id) ?? fail(notFound('backup not found')))

  async function existing(id: string): Promise<Archive> {
    const archive = await find(id)
    if (!archive.isThere) throw conflict(`${archive.file} does not exist or cannot be read`)
    return archive
  }

  /** The bytes of an archive, with or without the master key. The size is unknown without it. */
  async function read(id: string, { withKey }: { withKey: boolean }) {
    const { file, name } = await existing(id)
    if (withKey) return { name, body: Bun.file(file) }
    const body = Readable.toWeb(withoutKey(createReadStream(file))) as unknown as ReadableStream
    return { name: name.replace(/(\.tar\.gz)?$/, '-without-key.tar.gz'), body }
  }

  /** Checks that an archive is complete and can be restored. */
  async function check(id: string): Promise<ArchiveCheck> {
    const { file } = await existing(id)
    const abort = new AbortController()
    const cancel = clock.after(MAX_CHECK_MS, () => abort.abort())
    try {
      return await checkArchive(file, abort.signal)
    } catch (error) {
      if (abort.signal.aborted)
        throw conflict(`checking takes too long here; run gatehouse backup check ${file}`)
      return { problem: messageOf(error) }
    } finally {
      cancel()
    }
  }

  /** Deletes the file and its record; `also` runs in the commit. Throws `conflict` while it is made. */
  async function remove(id: string, also: (archive: Archive) => void) {
    const archive = await find(id)
    if (archive.endedAt === null) throw conflict('the backup is still being made')
    if (archive.isThere) await reach(archive.file, () => rm(archive.file))
    await db.commit(() => {
      store.remove([id])
      also(archive)
    })
  }

  return { list, find, read, check, remove }
}

/** One call after the other, because a reach refuses calls during another one. */
function inTurn(reach: Reach): Reach {
  let last: Promise<unknown> = Promise.resolve()
  return (file, work) => {
    const call = last.then(() => reach(file, work))
    last = call.catch(() => {})
    return call
  }
}
