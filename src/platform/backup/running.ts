import { Database } from 'bun:sqlite'
import { existsSync, readdirSync, readlinkSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { isBusy } from '../../db/errors.ts'
import { databaseFile } from '../../db/open.ts'
import { isoTime } from '../clock.ts'
import { type AppError, conflict } from '../errors.ts'
import { MAX_SILENCE_MS } from '../instances.ts'
import type { Process } from '../process.ts'
import type { instances } from '../schema.ts'
import { reading, rowsOf } from './database-file.ts'

type Instance = Pick<
  typeof instances.$inferSelect,
  'host' | 'pid' | 'version' | 'startedAt' | 'heartbeatAt'
>

/** For a command that is just about to end. */
const LOCK_WAIT_MS = 1000

/** Of another host nothing but the time tells; one that is far ahead of ours tells nothing. */
export const isFresh = (writtenAt: number, now: number): boolean =>
  Math.abs(now - writtenAt) < MAX_SILENCE_MS

/**
 * Refuses while somebody is seen to work on the data directory: those of other hosts by their
 * heartbeat, those of this one by the file that they have open. Changes nothing, and proves
 * nothing where the system does not show what others have open: `lockDatabase` does.
 */
export function refuseWhileInUse(dataDir: string, process: Process, now: number) {
  refuseWhileServedElsewhere(dataDir, process, now)
  const pids = holdersOf(databaseFile(dataDir)).filter((pid) => pid !== process.pid)
  if (pids.length > 0) throw inUse(dataDir, process, pids)
}

/** Locks reach as far as this machine does; beyond it there are heartbeats alone. */
function refuseWhileServedElsewhere(dataDir: string, process: Process, now: number) {
  const there = instancesOn(dataDir).find(
    ({ host, heartbeatAt }) => host !== process.host && isFresh(heartbeatAt, now),
  )
  if (!there) return
  const certainAt = isoTime(there.heartbeatAt + MAX_SILENCE_MS)
  throw conflict(`${sentenceOn(dataDir, there)}; if it has died, that is certain at ${certainAt}`)
}

/**
 * Keeps all others from the database until it is let go: refuses while any process has it open,
 * be it idle, whether or not it writes a heartbeat. The system forgets the lock of a dead one. A
 * file that is no database is in nobody's use.
 */
export function lockDatabase(dataDir: string, process: Process): Disposable {
  const file = databaseFile(dataDir)
  if (!existsSync(file)) return { [Symbol.dispose]: () => {} }
  let client: Database | undefined
  const release = () => client?.close()
  try {
    client = new Database(file, { readwrite: true, create: false })
    client.run(`PRAGMA busy_timeout = ${LOCK_WAIT_MS}`)
    client.run('PRAGMA locking_mode = EXCLUSIVE')
    client.run('BEGIN EXCLUSIVE')
  } catch (error) {
    release()
    if (isBusy(error)) throw inUse(dataDir, process, holdersOf(file))
    return { [Symbol.dispose]: () => {} }
  }
  return { [Symbol.dispose]: release }
}

function inUse(dataDir: string, process: Process, pids: readonly number[]): AppError {
  const others = pids.filter((pid) => pid !== process.pid)
  const isIn = (pid: number) =>
    others.length > 0 ? others.includes(pid) : pid !== process.pid && process.isRunning(pid)
  const server = instancesOn(dataDir).find(({ host, pid }) => host === process.host && isIn(pid))
  if (server) return conflict(sentenceOn(dataDir, server))
  const named = others.length > 0 ? ` (process ${others.join(', ')})` : ''
  return conflict(
    `another process has the database in ${dataDir} open${named}, such as a command or a ` +
      'replicator. Stop it first, or wait until it has ended',
  )
}

const sentenceOn = (dataDir: string, { version, host, pid, startedAt }: Instance): string =>
  `gatehouse ${version} runs on ${dataDir}: process ${pid} on ${host.split(' ')[0]}, ` +
  `since ${isoTime(startedAt)}. Stop it first`

/** Processes that have a file open, as far as the system shows them to us; elsewhere none. */
function holdersOf(file: string): number[] {
  const wanted = statSync(file, { throwIfNoEntry: false })
  if (!wanted) return []
  return namesIn('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => namesIn(`/proc/${pid}/fd`).some((fd) => isWanted(`/proc/${pid}/fd/${fd}`)))
    .map(Number)

  /** By name first: to look at any other file might wait for a mount that is gone. */
  function isWanted(link: string): boolean {
    try {
      if (basename(readlinkSync(link)) !== basename(file)) return false
      const { dev, ino } = statSync(link)
      return dev === wanted?.dev && ino === wanted.ino
    } catch {
      return false
    }
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** A database that can no longer be read is what backups are restored for. */
function instancesOn(dataDir: string): Instance[] {
  if (!existsSync(databaseFile(dataDir))) return []
  try {
    return reading(databaseFile(dataDir), (client) =>
      rowsOf<Instance>(
        client,
        'instances',
        'SELECT host, pid, version, started_at AS startedAt, heartbeat_at AS heartbeatAt FROM instances',
      ),
    )
  } catch {
    return []
  }
}
