import type { Database } from 'bun:sqlite'
import { late } from './statements.ts'

/**
 * Finds where a time begins in a table whose rows are added in the order of their times: the number of
 * its first row at or after it. Bisects the row numbers in about 20 lookups, so that a list in that order
 * can be limited to times without an index of its own. A clock that was set back makes it inexact.
 */
export function createSeqFrom(client: Database, table: string, time: string) {
  const last = late(() =>
    client.prepare<{ seq: number | null }, []>(`SELECT max(seq) AS seq FROM ${table}`),
  )
  const next = late(() =>
    client.prepare<{ seq: number; at: number }, [number]>(
      `SELECT seq, ${time} AS at FROM ${table} WHERE seq >= ? ORDER BY seq LIMIT 1`,
    ),
  )

  return function seqFrom(at: number): number {
    let low = 0
    let high = (last().get()?.seq ?? 0) + 1
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      const row = next().get(middle)
      if (row && row.at < at) low = row.seq + 1
      else high = middle
    }
    return low
  }
}

/** The rows of a range of times, as row numbers that are both excluded. */
export const rowsBetween = (
  seqFrom: (at: number) => number,
  { since, until }: { since?: number | undefined; until?: number | undefined },
): { after?: number; before?: number } => ({
  ...(since !== undefined && { after: seqFrom(since) - 1 }),
  ...(until !== undefined && { before: seqFrom(until) }),
})
