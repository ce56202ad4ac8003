import type { Database } from 'bun:sqlite'
import { rowsOf } from './database-file.ts'

/**
 * The number of runs, deliveries and mails that go out as soon as a server uses the restored data.
 */
export interface Overdue {
  runs: number
  deliveries: number
  mails: number
}

/**
 * Counts overdue work with plain SQL instead of the stores, because the database may be older than
 * the schema that they expect. Interrupted work counts as well, because it is repeated.
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
