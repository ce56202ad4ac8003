import { basename, dirname } from 'node:path'
import type { Log } from '../log.ts'
import type { RetentionRule } from '../retention.ts'
import { isArchiveName } from './names.ts'
import type { ArchiveStorage } from './storage.ts'
import type { BackupRow, createBackupStore } from './store.ts'

type Store = ReturnType<typeof createBackupStore>

const ROWS_KEPT_MS = 90 * 24 * 60 * 60 * 1000

/**
 * Deletes old scheduled backups beside the one just `made`, except that one and the newest `keep`.
 * Other directories may belong to the installation that this database was copied from.
 */
export async function rotate(parts: {
  store: Store
  keep: number
  now: number
  made: string
  log: Pick<Log, 'warn'>
  storage: Pick<ArchiveStorage, 'present' | 'remove'>
}) {
  const { store, keep, now, made, log, storage } = parts
  const isOurs = (file: string) => dirname(file) === dirname(made) && isArchiveName(basename(file))
  const good = byAge(store, now).map(({ file }) => file)
  const old = [...good.filter(isOurs).slice(keep), ...store.abandoned().filter(isOurs)]
  // Most have been deleted before, and each would be a request to object storage.
  for (const file of await storage.present(old)) {
    if (file === made) continue
    try {
      await storage.remove(file)
    } catch (error) {
      log.warn('old backup could not be deleted', { file, error: String(error) })
    }
  }
}

/** Scheduled backups, newest first. Those dated in the future by a wrong clock come last. */
function byAge(store: Store, now: number): BackupRow[] {
  const rows = store.scheduled()
  const isAhead = ({ startedAt }: BackupRow) => startedAt > now
  return [...rows.filter((row) => !isAhead(row)), ...rows.filter(isAhead)]
}

/** Keeps the newest `keep`, which rotation needs, and the last good one, which times the next. */
export const backupRetention = (store: Store, keep: number): RetentionRule => ({
  name: 'backups',
  deleteSlice(now, limit) {
    const needed = new Set(
      byAge(store, now)
        .slice(0, keep)
        .map(({ id }) => id),
    )
    const latest = store.latest(now)
    if (latest) needed.add(latest.id)
    const old = store.before(now - ROWS_KEPT_MS, limit + needed.size)
    const ids = old.filter((id) => !needed.has(id)).slice(0, limit)
    if (ids.length > 0) store.remove(ids)
    return ids.length
  },
})
