import { readFileSync, realpathSync, statfsSync } from 'node:fs'
import { type Finding, ok } from './finding.ts'
import { mountOf, objectionToPlace, parseMounts } from './mounts.ts'

const check = 'file system'

/** Whether the file system of the data directory suits a database. */
export function fileSystem(dataDir: string): Finding[] {
  const path = realpathSync(dataDir)
  const mount = mountOf(parseMounts(mountinfo()), path)
  const objection = objectionToPlace(mount, statfsSync(path).type)
  if (!objection) return [ok(check, mount ? `local, ${mount.type}` : 'local')]
  const { result, message } = objection
  return [{ check, result, message: `${dataDir} is on ${message}` }]
}

/** The list of mounts; empty where the system has none. */
function mountinfo(): string {
  try {
    return readFileSync('/proc/self/mountinfo', 'utf8')
  } catch {
    return ''
  }
}
