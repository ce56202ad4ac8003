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
  /** Opened when it is read. */
  open: () => Readable
  migrations: readonly Migration[]
  clock: Clock
  process: Process
  onProgress?: (unpacked: number, total: number) => void
  onInterrupt?: OnInterrupt
}

/** Tells what an archive is, having unpacked it in `workIn` and found that it can be restored. */
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
  /** Where the files are that were there before, if there were any. */
  previous: string | undefined
  overdue: Overdue
}

/**
 * Puts an archive in the place of what a data directory holds. Nothing is touched before the
 * archive has proved sound, and nothing of what was there is deleted. One that was cut short is
 * completed by the next.
 */
export async function restoreArchive(
  request: ArchiveRequest & { dataDir: string },
): Promise<Restored> {
  const { open, dataDir, migrations, clock, process, onProgress, onInterrupt } = request
  refuseWhileInUse(dataDir, process, clock.now())
  const place = openPlace(dataDir)
  const work = openWorkFolder({
    parent: dataDir,
    process,
    now: clock.now(),
    onInterrupt,
    onRemoved: place.removeIfEmpty,
  })
  try {
    const staged = work.path
    const manifest = await unpackArchive({ source: open(), folder: staged, onProgress })
    const known = examine(staged, manifest, migrations)
    settleKey(dataDir, staged, { isBrought: manifest.master_key !== null, known })
    const overdue = beginAnew(join(staged, ENTRIES.database), clock.now())
    handOver(staged, dataDir)
    sync(staged)
    const previous = replace({ dataDir, staged, process, now: clock.now() })
    return { manifest, previous, overdue }
  } finally {
    work.remove()
  }
}

/**
 * Whoever opens the database sees the marker, and whoever had it open by then holds the lock up:
 * in this order nobody is overlooked.
 */
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

/** Makes the directory where there is none; what was made and stayed empty goes again. */
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
 * Leaves a key in `staged` only where that of the data directory has to give way, which may be a
 * link or a mount. An archive may come without one.
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
  const there = key ? `the one there is ${key.id}` : 'there is none'
  return invalid(
    'the archive has no master key, and its database was sealed with ' +
      `${known.join(' and ')}. Put that key into ${dataDir} as master.key (${there})`,
    { rule: 'required' },
  )
}

/** One that cannot be read is another. */
function isSameKey(dataDir: string, staged: string): boolean {
  try {
    return readFileSync(masterKeyFile(dataDir)).equals(readFileSync(masterKeyFile(staged)))
  } catch {
    return false
  }
}

/**
 * The processes of then are no more; their leases are taken back at the next start. The archives of
 * then may belong to an installation that goes on: this one has made none, and so deletes none.
 */
function beginAnew(file: string, now: number): Overdue {
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
