import type { BackupRow } from '../../../../src/platform/backup/index.ts'

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
  /** Number of processes that serve this data directory. */
  instances: number
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
  issues: readonly InstallationIssue[]
  now: number
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
  | { what: 'backup failed'; row: BackupRow }
  | { what: 'no backup'; lastAt: number | undefined }
  | { what: 'backups off' }
