import { accessSync, constants, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../config/index.ts'
import { databaseFile } from '../../db/open.ts'
import { masterKeyFile } from '../../platform/sealing/key-file.ts'
import { codeOf, type Finding, ok, problem, warning } from './finding.ts'
import { backupDirectories } from './places.ts'
import { named } from './words.ts'

const check = 'permissions'

/** A file or directory as the system describes it. */
export interface Entry {
  path: string
  uid: number
  mode: number
}

/** As `chmod` takes it, and only where it grants others something. */
export const modeForOthers = (mode: number): string | undefined =>
  (mode & 0o077) === 0 ? undefined : (mode & 0o777).toString(8)

/** Of the directory itself: told also when nothing in it may be looked at. */
export function ownership({ dataDir }: Config): Finding[] {
  const directory = entryOf(dataDir)
  return directory ? [ofDirectory(directory), ...account(directory, process.getuid?.())] : []
}

/**
 * Whether the server can use what is there, and nobody else. Backups belong to whoever made them:
 * the server has no need to read them.
 */
export function permissions(config: Config, unreachable: ReadonlySet<string>): Finding[] {
  const { dataDir } = config
  const database = databaseFile(dataDir)
  const files = [database, `${database}-wal`, `${database}-shm`].flatMap(entriesAt)
  const own = [...files, ...entriesAt(masterKeyFile(dataDir))]
  const backups = backupDirectories(config).filter((path) => !unreachable.has(path))
  return [
    ...entriesAt(dataDir).flatMap((directory) => owners(directory, own)),
    ...openToOthers(dataDir, files),
    ...backups.flatMap((directory) => openToOthers(directory, entriesIn(directory))),
    ...[dataDir, database].flatMap(entriesAt).flatMap(unwritable).slice(0, 1),
  ]
}

function ofDirectory({ path, mode }: Entry): Finding {
  const open = modeForOthers(mode)
  return open === undefined
    ? ok('data directory', path)
    : warning('data directory', `others can read ${path} (mode ${open}): chmod 700 ${path}`)
}

/** Root can do as it likes, but what it makes the server cannot open. */
export function account({ path, uid }: Entry, self: number | undefined): Finding[] {
  if (self === undefined || self === uid) return []
  const message = `${path} belongs to uid ${uid} and this is uid ${self}: run commands as that account, sudo -u '#${uid}'`
  return [self === 0 ? warning(check, message) : problem(check, message)]
}

/** What belongs to another account than the directory the server cannot write, or not even read. */
export function owners({ uid, path: directory }: Entry, entries: readonly Entry[]): Finding[] {
  const foreign = entries.filter((entry) => entry.uid !== uid).map(({ path }) => path)
  if (foreign.length === 0) return []
  return [
    problem(
      check,
      `${named(foreign)}: not owned by uid ${uid} as ${directory} is: chown -R ${uid} ${directory}`,
    ),
  ]
}

/** One finding for all: a directory may hold many backups. */
export function openToOthers(directory: string, entries: readonly Entry[]): Finding[] {
  const open = entries
    .filter(({ mode }) => modeForOthers(mode) !== undefined)
    .map(({ path }) => path)
  if (open.length === 0) return []
  return [warning(check, `others can read ${named(open)}: chmod -R go= ${directory}`)]
}

function unwritable({ path }: Entry): Finding[] {
  try {
    accessSync(path, constants.W_OK)
    return []
  } catch (error) {
    return [
      problem(
        check,
        `${path} cannot be written (${codeOf(error)}): chown it to the account of the server, or ` +
          'mount it for writing',
      ),
    ]
  }
}

function entryOf(path: string): Entry | undefined {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats && { path, uid: stats.uid, mode: stats.mode }
}

/** None where there is no such file. */
const entriesAt = (path: string): Entry[] => [entryOf(path) ?? []].flat()

/** The files of a directory; none where there is no such directory. */
const entriesIn = (directory: string): Entry[] =>
  entriesAt(directory).flatMap(() =>
    readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .flatMap(({ name }) => entriesAt(join(directory, name))),
  )
