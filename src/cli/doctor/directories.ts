import { accessSync, constants, statSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import type { Config } from '../../config/index.ts'
import { ownDirectory } from '../../platform/backup/index.ts'
import { adviceOn, codeOf, type Finding, problem, within } from './finding.ts'

const MAX_CHECK_MS = 3000

type Dirs = Pick<Config, 'dataDir' | 'backup'>

/** Directories of backups, including those made before migrations. */
export const backupDirectories = ({ dataDir, backup }: Dirs): string[] => {
  const own = ownDirectory(dataDir)
  return [...new Set([own, backup.directory ?? own])]
}

/** Whether the directory belongs to another account and this one can't enter it. */
export function isForeign(dataDir: string): boolean {
  if (statSync(dataDir, { throwIfNoEntry: false })?.uid === process.getuid?.()) return false
  try {
    accessSync(dataDir, constants.X_OK)
    return false
  } catch (error) {
    return codeOf(error) === 'EACCES'
  }
}

/** Directories that can't be read in time; a read without a deadline could hang. */
export interface Unreachable {
  paths: ReadonlySet<string>
  findings: Finding[]
}

/**
 * Tests directories by their file system, which is never answered from a cache. Missing ones are
 * fine. Backups come last and only with data: each that never answers blocks one of few threads.
 */
export async function findUnreachable(
  config: Dirs,
  { read = statfs, longestMs = MAX_CHECK_MS }: CheckOptions = {},
): Promise<Unreachable> {
  const issuesAt = async (directories: Directory[]): Promise<Issue[]> => {
    const found = await Promise.all(
      directories.map(async ({ check, path }) => {
        const reason = await within(longestMs, reasonAgainst(path, read), SILENT)
        return reason === undefined ? [] : [{ path, finding: problem(check, `${path} ${reason}`) }]
      }),
    )
    return found.flat()
  }
  const data = { check: 'data directory', path: config.dataDir }
  const first = await issuesAt([data, { check: 'disk of tmp', path: tmpdir() }])
  const isThere = first.every(({ path }) => path !== data.path) && !isForeign(config.dataDir)
  const backups = isThere ? backupDirectories(config) : []
  const then = await issuesAt(backups.map((path) => ({ check: 'disk of backups', path })))
  const issues = [...first, ...then]
  return {
    paths: new Set(issues.map(({ path }) => path)),
    findings: issues.map(({ finding }) => finding),
  }
}

interface Directory {
  check: string
  path: string
}

interface Issue {
  path: string
  finding: Finding
}

interface CheckOptions {
  read?: (path: string) => Promise<unknown>
  longestMs?: number
}

const SILENT = 'does not respond: check its mount'

async function reasonAgainst(
  path: string,
  read: (path: string) => Promise<unknown>,
): Promise<string | undefined> {
  try {
    await read(path)
    return undefined
  } catch (error) {
    return codeOf(error) === 'ENOENT' ? undefined : `cannot be read: ${adviceOn(error)}`
  }
}
