import { Database } from 'bun:sqlite'
import { mkdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import type { Migration } from '../../db/migrate.ts'
import type { Clock } from '../clock.ts'
import { invalid } from '../errors.ts'
import { sync } from '../files.ts'
import type { Process } from '../process.ts'
import { type KeyFile, masterKeyFile, readMasterKey } from '../sealing/key-file.ts'
import { misfit } from '../sealing/open-key-ring.ts'
import { rowsOf } from './database-file.ts'
import { examine } from './examine.ts'
import { exchange, handOver } from './exchange.ts'
import type { Manifest } from './manifest.ts'
import { mark, unfinishedExchange, unmark } from './marker.ts'
import { ENTRIES } from './names.ts'
import { type Overdue, overdueIn } from './overdue.ts'
import { lockDatabase, refuseWhileInUse } from './running.ts'
import { takeKey } from './snapshot.ts'
import { unpackArchive } from './unpack.ts'
import { type OnInterrupt, openWorkFolder } from './work-folder.ts'

interface ArchiveRequest {
  /** Called when the archive is about to be read. */
  open: () => Readable
  migrations: readonly Migration[]
  clock: Clock
  process: Process
  onProgress?: (unpacked: number, total: number) => void
  onInterrupt?: OnInterrupt
}

/** Unpacks an archive in `workIn`, checks that it can be restored, and returns its manifest. */
export async function checkArchive(
  request: ArchiveRequest & { workIn: string },
): Promise<Manifest> {
  const { open, migrations, clock, process, onProgress, onInterrupt, workIn } = request
  const work = openWorkFolder({ parent: workIn, process, now: clock.now(), onInterrupt })
  try {
    const manifest = await unpackArchive({ source: open(), folder: work.path, onProgress })
    examine(work.path, manifest, migrations)
    return manifest
  } finally {
    work.remove()
  }
}

export interface Restored {
  manifest: Manifest
  /** The folder with the previous files; undefined if there were none. */
  previous: string | undefined
  overdue: Overdue
}

/** Changes nothing before all checks, keeps the old files, and completes an interrupted restore. */
export async function restoreArchive(
  request: ArchiveRequest & { dataDir: string },
): Promise<Restored> {
  const { open, dataDir, migrations, clock, process, onProgress, onInterrupt } = request
  refuseWhileInUse(dataDir, process, clock.now())
  const target = openPlace(dataDir)
  const work = openWorkFolder({
    parent: dataDir,
    process,
    now: clock.now(),
    onInterrupt,
    onRemoved: target.removeIfEmpty,
  })
  try {
    const staged = work.path
    const manifest = await unpackArchive({ source: open(), folder: staged, onProgress })
    const known = examine(staged, manifest, migrations)
    settleKey(dataDir, staged, { isBrought: manifest.master_key !== null, known })
    const overdue = prepareForStart(join(staged, ENTRIES.database), clock.now())
    handOver(staged, dataDir)
    sync(staged)
    const previous = replace({ dataDir, staged, process, now: clock.now() })
    return { manifest, previous, overdue }
  } finally {
    work.remove()
  }
}

/** Marks, then locks: later processes see the marker, and earlier ones prevent the lock. */
function replace(parts: {
  dataDir: string
  staged: string
  process: Process
  now: number
}): string | undefined {
  const { dataDir, staged, process, now } = parts
  const { marker, isNew } = mark(parts)
  using stack = new DisposableStack()
  try {
    refuseWhileInUse(dataDir, process, now)
    stack.use(lockDatabase(dataDir, process))
  } catch (error) {
    if (isNew) unmark(dataDir)
    throw error
  }
  return finish(exchange({ dataDir, staged, marker }))
}

/** Creates a missing directory; the returned function removes created directories if empty. */
function openPlace(dataDir: string) {
  const made = mkdirSync(dataDir, { recursive: true, mode: 0o700 })

  function removeIfEmpty() {
    for (let path = dataDir; made && path.length >= made.length; path = dirname(path)) {
      try {
        rmdirSync(path)
      } catch {
        return
      }
    }
  }

  return { removeIfEmpty }
}

/**
 * Leaves a key in `staged` only if it must replace the present one, which may be a link or a mount.
 * Throws `invalid` if the archive has no key and none here opens its database.
 */
function settleKey(
  dataDir: string,
  staged: string,
  { isBrought, known }: { isBrought: boolean; known: string[] },
) {
  if (isBrought) {
    if (isSameKey(dataDir, staged)) rmSync(masterKeyFile(staged))
    return
  }
  const here = readMasterKey(dataDir)
  if (here && !misfit({ dataDir, key: here, known })) return
  const moved = unfinishedExchange(dataDir)
  const key = moved === undefined ? here : takeKey(moved, staged)
  if (misfit({ dataDir, key, known })) throw withoutKey(dataDir, known, key)
}

function withoutKey(dataDir: string, known: string[], key: KeyFile | undefined) {
  const there = key ? `has ${key.id} instead` : 'has no key'
  return invalid(
    'the archive has no master key, and its database was sealed with ' +
      `${known.join(' and ')}. Copy that key to ${dataDir}/master.key; the directory ${there}`,
    { rule: 'required' },
  )
}

/** Whether both keys are identical; an unreadable key counts as different. */
function isSameKey(dataDir: string, staged: string): boolean {
  try {
    return readFileSync(masterKeyFile(dataDir)).equals(readFileSync(masterKeyFile(staged)))
  } catch {
    return false
  }
}

/**
 * Deletes the records of processes, whose leases are then taken back, and of backups: their files
 * may belong to an installation still in use, so this one must never delete them.
 */
function prepareForStart(file: string, now: number): Overdue {
  const client = new Database(file, { strict: true })
  try {
    client.run('PRAGMA secure_delete = ON')
    for (const table of ['instances', 'backups']) rowsOf(client, table, `DELETE FROM ${table}`)
    return overdueIn(client, now)
  } finally {
    client.close()
    sync(file)
  }
}

function finish<Result>(steps: Generator<unknown, Result>): Result {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}
