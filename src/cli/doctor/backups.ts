import { existsSync } from 'node:fs'
import type { Config } from '../../config/index.ts'
import type { BackupRow, createBackupStore } from '../../platform/backup/index.ts'
import { isoTime } from '../../platform/clock.ts'
import { DAY_MS, WEEK_MS } from '../../platform/durations.ts'
import { type Finding, ok, problem, warning } from './finding.ts'
import { megabytes } from './words.ts'

const check = 'backups'
/** The longest that a backup may take. */
const MAX_MS = DAY_MS

/** How many recent backups are read: more than can run at the same time. */
const MAX_CHECKED = 20

type BackupStore = ReturnType<typeof createBackupStore>

const HOW = 'run gatehouse backup, or set [backup] enabled = true for one a day'

/** Whether there is a recent backup. */
export function backupFindings(
  store: Pick<BackupStore, 'list' | 'latest'>,
  madeAt: number,
  { backup }: Pick<Config, 'backup'>,
  unreachable: ReadonlySet<string>,
  now: number,
): Finding[] {
  const found = { recent: store.list(now, MAX_CHECKED), good: store.latest(now), madeAt }
  return [
    ...(found.recent.length > 0 ? missing(backup.directory, unreachable) : []),
    ...judgeBackups(found, backup, now),
  ]
}

const missing = (directory: string | undefined, unreachable: ReadonlySet<string>): Finding[] =>
  directory === undefined || unreachable.has(directory) || existsSync(directory)
    ? []
    : [problem(check, `${directory} does not exist: mount or create it`)]

export function judgeBackups(
  {
    recent,
    good,
    madeAt,
  }: { recent: readonly BackupRow[]; good: BackupRow | undefined; madeAt: number },
  { enabled, everyMs }: Pick<Config['backup'], 'enabled' | 'everyMs'>,
  now: number,
): Finding[] {
  const last = recent.find(({ endedAt, startedAt }) => endedAt !== null || now - startedAt > MAX_MS)
  if (last?.endedAt === null)
    return [
      problem(
        check,
        `the backup of ${isoTime(last.startedAt)} was interrupted: run gatehouse backup`,
      ),
    ]
  if (last?.error)
    return [problem(check, `the last backup failed at ${isoTime(last.startedAt)}: ${last.error}`)]
  const longest = enabled ? 2 * everyMs : WEEK_MS
  const since = good?.endedAt ?? good?.startedAt
  const remedy = enabled ? 'is the server running? Check its log, or run gatehouse backup' : HOW
  if (now - (since ?? madeAt) > longest)
    return [
      warning(
        check,
        since === undefined
          ? `none: ${remedy}`
          : `the last backup was made at ${isoTime(since)}: ${remedy}`,
      ),
    ]
  if (!good)
    return [ok(check, enabled ? 'none yet; the first one is scheduled' : `none yet: ${HOW}`)]
  return [ok(check, `${good.file}, ${isoTime(since ?? madeAt)}, ${megabytes(good.bytes ?? 0)}`)]
}
