import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { restoreMarker } from '../../db/open.ts'
import { conflict, invalid } from '../errors.ts'
import { giveName, sync } from '../files.ts'
import type { Process } from '../process.ts'
import { ownLike, parse } from './files.ts'
import { beforeRestore, DATA_FILES } from './names.ts'
import { isFresh } from './running.ts'

/** Text without control characters, which a terminal would interpret. */
const UNCONTROLLED = '^[^\\x00-\\x1f\\x7f-\\x9f]*$'

/** Strict, because the account of the server can write the file and root acts on it. */
const Marker = Type.Object({
  /** The folder in the data directory to which the previous files are moved. */
  previous: Type.String({ pattern: '^before-restore-[0-9TZ-]{1,100}$' }),
  /** The previous files; all other known files in the directory come from an archive. */
  files: Type.Array(Type.Union(DATA_FILES.map((name) => Type.Literal(name))), {
    uniqueItems: true,
  }),
  /** The process that exchanges the files, and when it started. */
  by: Type.Object({
    host: Type.String({ pattern: UNCONTROLLED }),
    pid: Type.Integer(),
    at: Type.Integer(),
  }),
})

/** A file in the data directory during a restore, from which another process can complete it. */
export type Marker = Static<typeof Marker>

/** The folder for the previous files of an interrupted restore; undefined if there was none. */
export function unfinishedExchange(dataDir: string): string | undefined {
  const marker = readMarker(dataDir)
  return marker && join(dataDir, marker.previous)
}

/** Keeps processes out; takes over an interrupted restore. Throws `conflict` if one is running. */
export function mark(parts: { dataDir: string; staged: string; process: Process; now: number }): {
  marker: Marker
  isNew: boolean
} {
  const { dataDir, staged, process, now } = parts
  const found = readMarker(dataDir)
  if (found) refuseWhileInProgress(dataDir, found, process, now)
  const marker: Marker = {
    previous: found?.previous ?? freeName(dataDir, beforeRestore(now)),
    files: found?.files ?? DATA_FILES.filter((name) => existsSync(join(dataDir, name))),
    by: { host: process.host, pid: process.pid, at: now },
  }
  const draft = draftOf(marker, staged, dataDir)
  if (found) renameSync(draft, restoreMarker(dataDir))
  else giveName(draft, restoreMarker(dataDir))
  sync(dataDir)
  return { marker, isNew: !found }
}

/** Removes the marker, once all files are in place or if nothing has been moved. */
export function unmark(dataDir: string) {
  rmSync(restoreMarker(dataDir))
  sync(dataDir)
}

function refuseWhileInProgress(dataDir: string, { by }: Marker, process: Process, now: number) {
  const isOver = by.host === process.host && (by.pid === process.pid || !process.isRunning(by.pid))
  if (isOver || !isFresh(by.at, now)) return
  const host = by.host.split(' ')[0]
  throw conflict(
    `another restore into ${dataDir} is running: process ${by.pid} on ${host}. ` +
      'If it has crashed, try again in two minutes',
  )
}

function readMarker(dataDir: string): Marker | undefined {
  const file = restoreMarker(dataDir)
  if (!existsSync(file)) return undefined
  const written = parse(readFileSync(file, 'utf8'))
  if (Value.Check(Marker, written)) return written
  throw invalid(
    `${file} cannot be read. Make sure that the database and master.key belong together, then remove it`,
    { rule: 'damaged' },
  )
}

/** Written separately, because an incomplete marker would lose track of the previous files. */
function draftOf(marker: Marker, staged: string, dataDir: string): string {
  const draft = join(staged, 'marker')
  writeFileSync(draft, `${JSON.stringify(marker)}\n`, { mode: 0o600, flag: 'wx' })
  ownLike(draft, dataDir)
  sync(draft)
  return draft
}

/** A folder name that is not in use, for several restores within one second. */
function freeName(dataDir: string, name: string): string {
  for (let n = 2, free = name; ; n++) {
    if (!existsSync(join(dataDir, free))) return free
    free = `${name}-${n}`
  }
}
