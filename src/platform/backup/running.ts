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

/** The wait for the lock, long enough for a command that is about to exit. */
const LOCK_WAIT_MS = 1000

/** The only sign of life from other hosts; a time far in the future is not recent. */
export const isFresh = (writtenAt: number, now: number): boolean =>
  Math.abs(now - writtenAt) < MAX_SILENCE_MS

/**
 * Throws `conflict` if another process uses the data directory, by heartbeats of other hosts and
 * open files of this one. Where those aren't shown, only `lockDatabase` finds processes.
 */
export function refuseWhileInUse(dataDir: string, process: Process, now: number) {
  refuseWhileServedElsewhere(dataDir, process, now)
  const pids = holdersOf(databaseFile(dataDir)).filter((pid) => pid !== process.pid)
  if (pids.length > 0) throw inUse(dataDir, process, pids)
}

/** Throws `conflict` for a recent heartbeat of another host, which locks don't reach. */
function refuseWhileServedElsewhere(dataDir: string, process: Process, now: number) {
  const there = instancesOn(dataDir).find(
    ({ host, heartbeatAt }) => host !== process.host && isFresh(heartbeatAt, now),
  )
  if (!there) return
  const certainAt = isoTime(there.heartbeatAt + MAX_SILENCE_MS)
  throw conflict(`${sentenceOn(dataDir, there)}. If it has crashed, try again after ${certainAt}`)
}

/**
 * Locks the database exclusively until disposal. Throws `conflict` if any other process has it
 * open, even an idle one without a heartbeat. The system releases the lock if this process dies. A
 * file that is not a database needs no lock.
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
      'replicator. Stop it, or wait until it has finished',
  )
}

const sentenceOn = (dataDir: string, { version, host, pid, startedAt }: Instance): string =>
  `gatehouse ${version} is running on ${dataDir}: process ${pid} on ${host.split(' ')[0]}, ` +
  `since ${isoTime(startedAt)}. Stop it first`

/** The ids of the processes that have a file open; empty where `/proc` doesn't show them. */
function holdersOf(file: string): number[] {
  const wanted = statSync(file, { throwIfNoEntry: false })
  if (!wanted) return []
  return namesIn('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => namesIn(`/proc/${pid}/fd`).some((fd) => isWanted(`/proc/${pid}/fd/${fd}`)))
    .map(Number)

  /** Compares names first: reading the status of others could block on a disconnected mount. */
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

/** Empty if the database can't be read, because restores must work then. */
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
