import { createWriteStream, existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Writable } from 'node:stream'
import { type Clock, isoTime } from '../clock.ts'
import { conflict, notFound } from '../errors.ts'
import { giveName, refuseTaken, sync } from '../files.ts'
import type { Process } from '../process.ts'
import { masterKeyFile } from '../sealing/key-file.ts'
import { installationOf, schemaOf } from './contents.ts'
import { reading } from './database-file.ts'
import { measure, openOwnDirectory, ownDirectory, ownLike } from './files.ts'
import { writeManifest } from './manifest.ts'
import { ENTRIES } from './names.ts'
import { type Entry, packArchive } from './pack.ts'
import { describeKey, takeSnapshot } from './snapshot.ts'
import { type OnInterrupt, openWorkFolder } from './work-folder.ts'

export interface BackupRequest {
  dataDir: string
  /**
   * A new file, which root gives to the owner of the path `ownerOf`; or a stream, for which
   * `workIn` holds the temporary copy of the database.
   */
  to: { file: string; ownerOf?: string } | { stream: Writable; workIn: string }
  withKey: boolean
  /** Public keys of age. Without any, the archive is not encrypted. */
  encryptTo?: readonly string[]
  clock: Clock
  process: Process
  /** If it returns false once the archive is written, nothing is kept of it. */
  isWanted?: () => boolean
  onProgress?: (packed: number, total: number) => void
  onInterrupt?: OnInterrupt
}

export interface Backup {
  /** Milliseconds since the epoch. The archive contains everything committed before. */
  createdAt: number
  /** The size of the archive; `sha256` is its hash. */
  bytes: number
  sha256: string
  databaseBytes: number
  hasKey: boolean
}

/**
 * Makes one archive of a data directory, with or without a running server. Needs space for a copy
 * of the database in the destination, and none in the data directory.
 */
export async function makeBackup(request: BackupRequest): Promise<Backup> {
  const { to, process, clock, dataDir, isWanted = () => true, onInterrupt } = request
  const createdAt = clock.now()
  if ('file' in to) refuseTaken(to.file)
  const workIn = 'file' in to ? dirname(to.file) : to.workIn
  if (workIn === ownDirectory(dataDir)) openOwnDirectory(dataDir)
  else refuseMissing(workIn)
  const work = openWorkFolder({ parent: workIn, process, now: createdAt, onInterrupt })
  try {
    if ('stream' in to)
      return await pour(request, { createdAt, folder: work.path, openSink: () => to.stream })
    const draft = join(work.path, 'archive.tmp')
    const openSink = () => createWriteStream(draft, { mode: 0o600, flags: 'wx' })
    const made = await pour(request, { createdAt, folder: work.path, openSink })
    if (to.ownerOf !== undefined) ownLike(draft, to.ownerOf)
    sync(draft)
    if (!isWanted()) throw conflict('the process that asked for the backup has ended')
    giveName(draft, to.file)
    sync(workIn)
    return made
  } finally {
    work.remove()
  }
}

async function pour(
  { dataDir, withKey, encryptTo = [], clock, process, onProgress = () => {} }: BackupRequest,
  { createdAt, folder, openSink }: { createdAt: number; folder: string; openSink: () => Writable },
): Promise<Backup> {
  const key = await takeSnapshot({ dataDir, folder, withKey, clock })
  const copy = join(folder, ENTRIES.database)
  const database = await measure(copy)
  const manifest = writeManifest({
    app_version: process.version,
    created_at: isoTime(createdAt),
    ...reading(copy, (client) => ({
      installation: installationOf(client),
      schema: schemaOf(client),
    })),
    database,
    master_key: await describeKey(key, folder),
  })
  const keyFile = masterKeyFile(folder)
  const entries: Entry[] = [
    { name: ENTRIES.manifest, content: { text: manifest } },
    { name: ENTRIES.database, content: { file: copy, bytes: database.bytes } },
    ...(key ? [{ name: ENTRIES.key, content: { text: await Bun.file(keyFile).text() } }] : []),
  ]
  const onBytes = (packed: number) => onProgress(packed, database.bytes)
  const archive = await packArchive({
    ...{ entries, createdAt, encryptTo, onBytes },
    sink: openSink(),
  })
  return { createdAt, ...archive, databaseBytes: database.bytes, hasKey: key !== undefined }
}

/** Throws if missing: with its disk not mounted, backups would end up on the disk of the data. */
function refuseMissing(directory: string) {
  if (!existsSync(directory))
    throw notFound(`directory ${directory} does not exist. Mount or create it first`)
}
