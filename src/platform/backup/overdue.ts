import type { Database } from 'bun:sqlite'
import { rowsOf } from './database-file.ts'

/** What goes out as soon as somebody serves the restored data. */
export interface Overdue {
  runs: number
  deliveries: number
  mails: number
}

/**
 * Counts by the words of the tables: an archive may be older than what their owners know, and its
 * database has not been migrated yet. Work that was under way is made again, whenever it was due.
 */
export const overdueIn = (client: Database, now: number): Overdue => ({
  runs: count(client, 'runs', DUE, now) + count(client, 'cron_jobs', DUE_SLOTS, now),
  deliveries: count(client, 'deliveries', DUE, now),
  mails: count(client, 'mails', DUE, now),
})

const DUE = "state = 'leased' OR (state IN ('waiting', 'ready') AND due_at <= ?)"
const DUE_SLOTS = 'is_active = 1 AND next_run_at <= ?'

const count = (client: Database, table: string, where: string, now: number): number =>
  rowsOf<{ n: number }>(client, table, `SELECT count(*) AS n FROM ${table} WHERE ${where}`, now)[0]
    ?.n ?? 0
