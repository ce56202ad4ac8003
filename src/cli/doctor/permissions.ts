import { accessSync, constants, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../config/index.ts'
import { databaseFile } from '../../db/open.ts'
import { masterKeyFile } from '../../platform/sealing/key-file.ts'
import { backupDirectories } from './directories.ts'
import { codeOf, type Finding, ok, problem, warning } from './finding.ts'
import { named } from './words.ts'

const check = 'permissions'

/** A file or directory as the system describes it. */
export interface Entry {
  path: string
  uid: number
  mode: number
}

/** The mode for `chmod` if it grants other accounts anything; else undefined. */
export const modeForOthers = (mode: number): string | undefined =>
  (mode & 0o077) === 0 ? undefined : (mode & 0o777).toString(8)

/** Checks the data directory itself, even if its contents can't be read. */
export function ownership({ dataDir }: Config): Finding[] {
  const directory = entryOf(dataDir)
  return directory ? [ofDirectory(directory), ...account(directory, process.getuid?.())] : []
}

/** Whether only the server can use the files. Backups may have any owner: it never reads them. */
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
    : warning(
        'data directory',
        `other accounts can read ${path} (mode ${open}): run chmod 700 ${path}`,
      )
}

/** Whether this is the account of the data directory. Root is a warning: the server can't open its files. */
export function account({ path, uid }: Entry, self: number | undefined): Finding[] {
  if (self === undefined || self === uid) return []
  const message = `${path} belongs to uid ${uid}, you are uid ${self}: run commands as that account, with sudo -u '#${uid}'`
  return [self === 0 ? warning(check, message) : problem(check, message)]
}

/** Files of another account than the directory's, which the server can't write or even read. */
export function owners({ uid, path: directory }: Entry, entries: readonly Entry[]): Finding[] {
  const foreign = entries.filter((entry) => entry.uid !== uid).map(({ path }) => path)
  if (foreign.length === 0) return []
  return [
    problem(
      check,
      `${named(foreign)}: owned by another account than ${directory}: run chown -R ${uid} ${directory}`,
    ),
  ]
}

/** One warning for all files that other accounts can read. */
export function openToOthers(directory: string, entries: readonly Entry[]): Finding[] {
  const open = entries
    .filter(({ mode }) => modeForOthers(mode) !== undefined)
    .map(({ path }) => path)
  if (open.length === 0) return []
  return [warning(check, `other accounts can read ${named(open)}: run chmod -R go= ${directory}`)]
}

function unwritable({ path }: Entry): Finding[] {
  try {
    accessSync(path, constants.W_OK)
    return []
  } catch (error) {
    return [
      problem(
        check,
        `${path} is not writable (${codeOf(error)}): chown it to the server's account, or ` +
          'remount it writable',
      ),
    ]
  }
}

function entryOf(path: string): Entry | undefined {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats && { path, uid: stats.uid, mode: stats.mode }
}

/** The file as a list; empty if there is none. */
const entriesAt = (path: string): Entry[] => [entryOf(path) ?? []].flat()

/** The files of a directory; empty if there is none. */
const entriesIn = (directory: string): Entry[] =>
  entriesAt(directory).flatMap(() =>
    readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .flatMap(({ name }) => entriesAt(join(directory, name))),
  )
