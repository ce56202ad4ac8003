import type { Db } from '../db/open.ts'
import { isFresh } from '../platform/backup/running.ts'
import { isoTime } from '../platform/clock.ts'
import { conflict } from '../platform/errors.ts'
import { MAX_SILENCE_MS } from '../platform/instances.ts'
import type { Process } from '../platform/process.ts'
import { instances } from '../platform/schema.ts'

/**
 * Throws `conflict` while another server runs on this database. On this host, its process counts,
 * on other hosts only its heartbeat.
 */
export function refuseBesideServer(db: Db, self: Process, now: number) {
  const server = serversOn(db).find(({ host, pid, heartbeatAt }) => {
    const mayRun = host !== self.host || (pid !== self.pid && self.isRunning(pid))
    return mayRun && isFresh(heartbeatAt, now)
  })
  if (!server) return
  const { version, host, pid, startedAt, heartbeatAt } = server
  const isHere = host === self.host
  const certainAt = isoTime(heartbeatAt + MAX_SILENCE_MS)
  throw conflict(
    `the database needs a migration, but gatehouse ${version} is running on it: process ${pid} on ` +
      `${host.split(' ')[0]}, since ${isoTime(startedAt)}. Stop it first` +
      (isHere ? '' : `. If it has crashed, try again after ${certainAt}`),
  )
}

/** Reads only columns that every version has had; empty before the first migration. */
function serversOn({ client, orm }: Db) {
  const isMade = client.query("SELECT 1 FROM sqlite_schema WHERE name = 'instances'").get()
  if (!isMade) return []
  const { host, pid, version, startedAt, heartbeatAt } = instances
  return orm.select({ host, pid, version, startedAt, heartbeatAt }).from(instances).all()
}
