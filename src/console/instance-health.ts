import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Config } from '../config/index.ts'
import { latestMigration } from '../db/migrate.ts'
import type { Db } from '../db/open.ts'
import { logOf } from '../db/read-only.ts'
import type { Delivery } from '../delivery/index.ts'
import type { Clockwork } from '../engines/clockwork/index.ts'
import type { BackupRow, Backups } from '../platform/backup/index.ts'
import type { Clock } from '../platform/clock.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../platform/durations.ts'
import type { InstallationSettings } from '../platform/installation-settings/index.ts'
import { type InstanceRow, type Instances, MAX_SILENCE_MS } from '../platform/instances.ts'
import type { Mail } from '../platform/mail/index.ts'
import { mailServerOf } from '../platform/mail/server.ts'
import type { Replication, Stall } from '../platform/replication/index.ts'
import type { PairState } from '../platform/replication/pair.ts'
import { COMMIT, VERSION } from '../platform/version.ts'
import { type PairIssue, pairIssuesIn } from './pair-issues.ts'

const LATE_MS = MINUTE_MS
const LITTLE_ROOM = 1024 ** 3
const BACKUPS_SHOWN = 20

/** State of the installation. Sizes are in bytes. */
export interface InstanceHealth {
  version: string
  commit: string
  startedAt: number
  dataDir: string
  databaseBytes: number
  /** Size of the write-ahead log. */
  logBytes: number
  freeBytes: number
  /** Processes that serve this data directory, oldest first. */
  processes: readonly ProcessState[]
  /** The newest migration of the database, which all processes share. */
  schema: string
  queues: readonly QueueHealth[]
  mail: {
    /** Host and port of the mail server, or null without one. */
    server: string | null
    /** Queued emails. */
    ready: number
    /** Emails that wait for a retry. */
    waiting: number
  }
  backups: BackupHealth
  /** Undefined while the replica confirms writes, or isn't asked to. */
  stall: Stall | undefined
  /** Undefined if no other server shares the data, or nothing is known of it yet. */
  pair: PairState | undefined
  issues: readonly InstallationIssue[]
  now: number
}

/** A process that serves this data directory. */
export interface ProcessState {
  id: string
  host: string
  pid: number
  version: string
  startedAt: number
  heartbeatAt: number
  /** Whether it is the one that shows the page. */
  isThis: boolean
  /** Whether its heartbeat is overdue: it hangs, can't write, or has died. */
  isSilent: boolean
}

/** Backlog of a queue. */
export interface QueueHealth {
  name: 'runs' | 'deliveries' | 'repeated deliveries'
  /** Counted up to 10,000. */
  readyCount: number
  /** Age of the oldest. */
  lagMs: number
}

/** Backups and their schedule. */
export interface BackupHealth {
  /** Whether backups are scheduled. */
  enabled: boolean
  everyMs: number
  /** Number of backups that are kept. */
  keep: number
  /** The last one that succeeded. */
  last: BackupRow | undefined
  /** Newest first, including one in progress. */
  made: readonly BackupRow[]
}

/** A problem of the installation. */
export type InstallationIssue =
  | { what: 'room'; freeBytes: number }
  | { what: 'queue'; name: QueueHealth['name']; lagMs: number }
  | { what: 'versions'; newest: string; others: readonly ProcessState[] }
  | { what: 'backup failed'; row: BackupRow }
  | { what: 'no backup'; lastAt: number | undefined }
  | { what: 'backups off' }
  | { what: 'replica'; stall: Stall }
  | PairIssue

/** Health of the installation for the console, from the same data as /metrics, which can be disabled. */
export function createInstanceHealth(parts: {
  db: Db
  clock: Clock
  instances: Pick<Instances, 'self' | 'list'>
  backups: Pick<Backups, 'latest' | 'list'>
  mail: Pick<Mail, 'hasServer' | 'outbox'>
  clockwork: Pick<Clockwork, 'queries'>
  delivery: Pick<Delivery, 'queries'>
  installationSettings: Pick<InstallationSettings, 'current'>
  replication: Pick<Replication, 'stall' | 'pair'>
  config: Pick<Config, 'backup'>
}) {
  const { db, clock, instances, backups, mail, clockwork, delivery, config } = parts
  const { installationSettings, replication } = parts
  const startedAt = clock.now()

  function read(): InstanceHealth {
    const now = clock.now()
    const dataDir = dirname(db.file)
    const made = backups.list(BACKUPS_SHOWN)
    const { smtpUrl } = installationSettings.current().mail
    const state = {
      version: VERSION,
      commit: COMMIT,
      startedAt,
      dataDir,
      databaseBytes: sizeOf(db.file),
      logBytes: sizeOf(logOf(db.file)),
      freeBytes: roomAt(dataDir),
      processes: instances.list().map((row) => processOf(row, instances.self, now)),
      schema: latestMigration(db.client) ?? '',
      queues: queues(now),
      mail: { server: smtpUrl === undefined ? null : addressOf(smtpUrl), ...mail.outbox.open() },
      backups: { ...config.backup, last: backups.latest(), made },
      stall: replication.stall(),
      pair: replication.pair(),
      now,
    }
    return { ...state, issues: issuesIn(state) }
  }

  function queues(now: number): QueueHealth[] {
    const { first, again } = delivery.queries.backlog(now)
    return [
      { name: 'runs', ...clockwork.queries.backlog(now) },
      { name: 'deliveries', ...first },
      { name: 'repeated deliveries', ...again },
    ]
  }

  return { read }
}

/** Problems of the installation: the replica, other servers, little disk space, queues a minute behind, and missing backups. */
export function issuesIn(state: {
  now: number
  startedAt: number
  freeBytes: number
  queues: readonly QueueHealth[]
  processes: readonly ProcessState[]
  stall?: Stall | undefined
  pair?: PairState | undefined
  backups: Config['backup'] & { last: BackupRow | undefined; made: readonly BackupRow[] }
}): InstallationIssue[] {
  const { now, freeBytes, queues, processes, stall, pair } = state
  return [
    ...(stall ? [{ what: 'replica' as const, stall }] : []),
    ...(pair ? pairIssuesIn(pair, now) : []),
    ...(freeBytes < LITTLE_ROOM ? [{ what: 'room' as const, freeBytes }] : []),
    ...queues
      .filter(({ lagMs }) => lagMs >= LATE_MS)
      .map(({ name, lagMs }) => ({ what: 'queue' as const, name, lagMs })),
    ...versionIssues(processes.filter(({ isSilent }) => !isSilent)),
    ...backupIssues(state),
  ]
}

/** The process that was started last has the version that is wanted. */
function versionIssues(processes: readonly ProcessState[]): InstallationIssue[] {
  const newest = processes.at(-1)?.version
  const others = processes.filter(({ version }) => version !== newest)
  return newest === undefined || others.length === 0 ? [] : [{ what: 'versions', newest, others }]
}

const processOf = (
  { id, host, pid, version, startedAt, heartbeatAt }: InstanceRow,
  self: string,
  now: number,
): ProcessState => ({
  id,
  // Without the process namespace.
  host: host.split(' ')[0] ?? host,
  pid,
  version,
  startedAt,
  heartbeatAt,
  isThis: id === self,
  isSilent: id !== self && now - heartbeatAt > MAX_SILENCE_MS,
})

/** Problems of backups. Expects one per day, or as often as configured, plus an hour to create it. */
function backupIssues(state: {
  now: number
  startedAt: number
  backups: Config['backup'] & { last: BackupRow | undefined; made: readonly BackupRow[] }
}): InstallationIssue[] {
  const { now, startedAt, backups } = state
  const { enabled, everyMs, last, made } = backups
  const longest = enabled ? Math.max(DAY_MS, everyMs) + HOUR_MS : DAY_MS
  const lastAt = last?.endedAt ?? undefined
  const newest = made.find(({ endedAt }) => endedAt !== null)
  if (newest && newest.error !== null) return [{ what: 'backup failed', row: newest }]
  if (lastAt !== undefined && now - lastAt < longest) return []
  if (!enabled) return [{ what: 'backups off' }]
  return now - (lastAt ?? startedAt) < longest ? [] : [{ what: 'no backup', lastAt }]
}

/** Host and port, without the credentials in the URL. */
function addressOf(smtpUrl: string): string {
  const { host, port } = mailServerOf(smtpUrl)
  return `${host}:${port}`
}

/** Disk space available to unprivileged users. */
function roomAt(folder: string): number {
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize
}

const sizeOf = (file: string): number => Bun.file(file).size
