import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { latestMigration } from '../db/migrate.ts'
import { databaseFile } from '../db/open.ts'
import { openForReading } from '../db/read-only.ts'
import { stampOf } from '../platform/clock.ts'
import { readIfAny, sync, writeDurably } from '../platform/files.ts'
import { newId } from '../platform/ids.ts'
import { masterKeyFile } from '../platform/sealing/key-file.ts'

const StateSchema = Type.Object({
  id: Type.String(),
  /** The last generation in which this server was active. */
  generation: Type.Optional(Type.Integer()),
  /** Whether it gave up its lease, after all that it had was uploaded. */
  isReleased: Type.Optional(Type.Boolean()),
  /** The `markOf` its database then. */
  releasedMark: Type.Optional(Type.String()),
})

export type ServerState = Static<typeof StateSchema>

/** Folder of what belongs to this server alone, in a data directory. */
export const pairFolder = (dataDir: string) => join(dataDir, 'replication')

const setAsideFolder = (dataDir: string) => join(dataDir, 'set-aside')

const stateFile = (dataDir: string) => join(pairFolder(dataDir), 'server.json')

/** What a server knows of itself in its data directory; undefined before its first start. */
export function readServerState(dataDir: string): ServerState | undefined {
  const text = readIfAny(stateFile(dataDir))
  return text === undefined ? undefined : Value.Parse(StateSchema, JSON.parse(text))
}

/** The same, which the server changes. */
export function openServerState(dataDir: string) {
  const file = stateFile(dataDir)
  mkdirSync(pairFolder(dataDir), { recursive: true, mode: 0o700 })
  let state = readServerState(dataDir) ?? { id: newId() }

  function change(more: Partial<ServerState>) {
    const next = { ...state, ...more }
    writeDurably(file, JSON.stringify(next))
    state = next
  }

  if (!existsSync(file)) change({})
  return { get: () => state, change }
}

/** Lets a server take the database in a data directory for one that it has never uploaded. */
export function forgetTurns(dataDir: string) {
  if (readServerState(dataDir))
    openServerState(dataDir).change({ generation: 0, isReleased: false })
}

/**
 * The files of the database, and where Litestream keeps its progress. The database is the last to be
 * moved or deleted: SQLite would take a log that is left behind for that of the next one.
 */
const filesOf = (dataDir: string): string[] => {
  const file = databaseFile(dataDir)
  const progress = join(dirname(file), `.${basename(file)}-litestream`)
  return [progress, `${file}-shm`, `${file}-wal`, file].filter(existsSync)
}

/** Whether there is anything of a database, which may be a part of it. */
export const hasDatabaseFiles = (dataDir: string): boolean => filesOf(dataDir).length > 0

/** Changes with each write to the database. */
export function markOf(dataDir: string): string {
  const file = databaseFile(dataDir)
  const stats = [file, `${file}-wal`].map((name) => statSync(name, { throwIfNoEntry: false }))
  return stats.map((stat) => (stat ? `${stat.size} ${stat.mtimeMs}` : 'none')).join(', ')
}

/** Whether a server gave up its lease, and nothing has written to its database since. */
export const isAllUploaded = (dataDir: string, { isReleased, releasedMark }: ServerState) =>
  isReleased === true && releasedMark === markOf(dataDir)

/** Whether there is no database, and no log of one. */
export const hasNoData = (dataDir: string) => markOf(dataDir) === 'none, none'

/** The newest migration of the database; undefined without any, or if it can't be read. */
export function schemaIn(dataDir: string): string | undefined {
  try {
    using client = openForReading(databaseFile(dataDir)).client
    return latestMigration(client)
  } catch {
    return undefined
  }
}

/** Where Litestream keeps the files of a database that it has not uploaded, or uploaded last. */
export const progressFolder = (dataDir: string) => {
  const file = databaseFile(dataDir)
  return join(dirname(file), `.${basename(file)}-litestream`, 'ltx', '0')
}

/** The last transaction that Litestream has made a file of; 0 if there is none. */
export function lastTxidIn(dataDir: string): bigint {
  const folder = progressFolder(dataDir)
  const files = existsSync(folder) ? readdirSync(folder) : []
  const numbers = files.flatMap(
    (name) => /^[0-9a-f]{16}-([0-9a-f]{16})\.ltx$/.exec(name)?.[1] ?? [],
  )
  return BigInt(`0x${numbers.toSorted().at(-1) ?? '0'}`)
}

/** Makes Litestream upload all of the database again. */
export const forgetProgress = (dataDir: string) =>
  rmSync(join(progressFolder(dataDir), '..', '..'), { recursive: true, force: true })

/** Deletes a database all of which is in object storage. */
export function removeDatabase(dataDir: string) {
  for (const name of filesOf(dataDir)) rmSync(name, { recursive: true })
}

/**
 * Moves away the database of a server that was active before, because it can have writes that no
 * other server has. Returns the folder.
 */
export function setAside(dataDir: string, { generation = 0 }: ServerState, now: number): string {
  const folder = join(setAsideFolder(dataDir), `${stampOf(now)}-generation-${generation}`)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (const name of filesOf(dataDir)) renameSync(name, join(folder, basename(name)))
  // The standby gets the key of the active server, which may be another one.
  const key = masterKeyFile(dataDir)
  if (existsSync(key)) copyFileSync(key, join(folder, basename(key)))
  sync(folder)
  sync(dataDir)
  return folder
}

/** The folders of databases that were set aside, oldest first. */
export const listSetAside = (dataDir: string): string[] =>
  existsSync(setAsideFolder(dataDir))
    ? readdirSync(setAsideFolder(dataDir))
        .toSorted()
        .map((name) => join(setAsideFolder(dataDir), name))
    : []
