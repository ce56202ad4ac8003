import { statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Config } from '../../config/index.ts'
import { codeOf, type Finding, problem, reasonOf, within } from './finding.ts'

const LONGEST_LOOK_MS = 3000

type Dirs = Pick<Config, 'dataDir' | 'backup'>

/** Where backups go, those before a migration included. */
export const backupDirectories = ({ dataDir, backup }: Dirs): string[] => {
  const own = join(dataDir, 'backups')
  return [...new Set([own, backup.directory ?? own])]
}

/** Directories in which nobody may look: whoever does without a deadline may wait forever. */
export interface Unreachable {
  paths: ReadonlySet<string>
  findings: Finding[]
}

/**
 * Looks at every directory that checks look into. One that is not there yet is no trouble here.
 * By its file system, which is never answered from memory as a file may be. Not all at once, and at
 * no backups where there are no data: each that never answers takes a thread of few for good.
 */
export async function findUnreachable(
  config: Dirs,
  { look = statfs, longestMs = LONGEST_LOOK_MS }: LookOptions = {},
): Promise<Unreachable> {
  const troublesAt = async (places: Place[]): Promise<Trouble[]> => {
    const found = await Promise.all(
      places.map(async ({ check, path }) => {
        const reason = await within(longestMs, reasonAgainst(path, look), SILENT)
        return reason === undefined ? [] : [{ path, finding: problem(check, `${path} ${reason}`) }]
      }),
    )
    return found.flat()
  }
  const data = { check: 'data directory', path: config.dataDir }
  const first = await troublesAt([data, { check: 'disk of tmp', path: tmpdir() }])
  const isThere = first.every(({ path }) => path !== data.path)
  const backups = isThere ? backupDirectories(config) : []
  const then = await troublesAt(backups.map((path) => ({ check: 'disk of backups', path })))
  const troubles = [...first, ...then]
  return {
    paths: new Set(troubles.map(({ path }) => path)),
    findings: troubles.map(({ finding }) => finding),
  }
}

interface Place {
  check: string
  path: string
}

interface Trouble {
  path: string
  finding: Finding
}

interface LookOptions {
  look?: (path: string) => Promise<unknown>
  longestMs?: number
}

const SILENT = 'does not answer: is its mount still there?'

async function reasonAgainst(
  path: string,
  look: (path: string) => Promise<unknown>,
): Promise<string | undefined> {
  try {
    await look(path)
    return undefined
  } catch (error) {
    return codeOf(error) === 'ENOENT' ? undefined : `cannot be looked at: ${reasonOf(error)}`
  }
}
