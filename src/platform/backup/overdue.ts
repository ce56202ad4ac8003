import type { Database } from 'bun:sqlite'
import { rowsOf } from './database-file.ts'

/** Work that starts as soon as a server uses the restored data. */
export interface Overdue {
  runs: number
  deliveries: number
  mails: number
}

/** Uses plain SQL, because the schema may be older. Interrupted work counts: it is repeated. */
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
