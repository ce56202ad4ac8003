import { basename } from 'node:path'
import { Readable } from 'node:stream'
import { messageOf } from '../../db/errors.ts'
import type { Db } from '../../db/open.ts'
import type { Clock } from '../clock.ts'
import { conflict, fail, notFound } from '../errors.ts'
import { isObjectUrl } from '../object-storage/index.ts'
import type { CheckArchive } from './child.ts'
import { ENCRYPTED } from './encryption.ts'
import type { ArchiveStorage } from './storage.ts'
import type { BackupRow, createBackupStore } from './store.ts'
import { withoutKey } from './without-key.ts'

/** A backup and its file; `bytes` is null if the file is gone. */
export interface Archive extends BackupRow {
  name: string
  isThere: boolean
  /** Only the owner of a private key can check it, and nothing can be left out of it. */
  isEncrypted: boolean
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
  storage: ArchiveStorage
  checkArchive: CheckArchive
}) {
  const { db, clock, store, storage, checkArchive } = parts

  const archiveOf = (row: BackupRow, isThere: boolean): Archive => ({
    ...row,
    name: basename(row.file),
    isThere: row.endedAt !== null && isThere,
    isEncrypted: row.file.endsWith(ENCRYPTED),
  })

  /** Newest first. */
  async function list(limit: number): Promise<Archive[]> {
    const rows = store.list(clock.now(), limit)
    const there = await storage.present(rows.map(({ file }) => file))
    return rows.map((row) => archiveOf(row, there.has(row.file)))
  }

  async function find(id: string): Promise<Archive> {
    const row = store.find(id) ?? fail(notFound('backup not found'))
    const size = await storage.sizeOf(row.file).catch(() => null)
    return archiveOf(row, size !== null)
  }

  async function existing(id: string): Promise<Archive> {
    const archive = await find(id)
    if (!archive.isThere) throw conflict(`${archive.file} does not exist or cannot be read`)
    return archive
  }

  /** The bytes of an archive, with or without the master key. The size is unknown without it. */
  async function read(id: string, { withKey }: { withKey: boolean }) {
    const { file, name, isEncrypted } = await existing(id)
    if ((withKey || isEncrypted) && !isObjectUrl(file)) return { name, body: Bun.file(file) }
    const whole = await storage.read(file)
    if (withKey || isEncrypted) return { name, body: webStream(whole) }
    const body = webStream(withoutKey(whole))
    return { name: name.replace(/(\.tar\.gz)?$/, '-without-key.tar.gz'), body }
  }

  /** Checks that an archive is complete and can be restored. */
  async function check(id: string): Promise<ArchiveCheck> {
    const { file, isEncrypted } = await existing(id)
    const command = `gatehouse backup check ${file}`
    if (isEncrypted)
      throw conflict(`the backup is encrypted. Run ${command} --identity FILE with its private key`)
    const abort = new AbortController()
    const cancel = clock.after(MAX_CHECK_MS, () => abort.abort())
    try {
      return await checkArchive(file, abort.signal)
    } catch (error) {
      if (abort.signal.aborted) throw conflict(`checking takes too long here; run ${command}`)
      return { problem: messageOf(error) }
    } finally {
      cancel()
    }
  }

  /** Deletes the file and its record; `also` runs in the commit. Throws `conflict` while it is made. */
  async function remove(id: string, also: (archive: Archive) => void) {
    const archive = await find(id)
    if (archive.endedAt === null) throw conflict('the backup is still being made')
    if (archive.isThere) await storage.remove(archive.file)
    await db.commit(() => {
      store.remove([id])
      also(archive)
    })
  }

  return { list, find, read, check, remove }
}

const webStream = (stream: Readable) => Readable.toWeb(stream) as unknown as ReadableStream
