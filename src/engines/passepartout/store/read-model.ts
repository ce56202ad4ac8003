import type { Db } from '../../../db/open.ts'
import type { Owner } from '../owner.ts'

/** A range in the order of all sign-ins: after one sequence number, up to another. */
export type TimeRange = { after: number; upTo: number }

/** Maximum count per range, enough for a chart. */
const MAX_COUNTED = 10_000

/** Summary queries. The plus before parameters keeps SQLite from planning again: db/open.ts. */
export function createReadModel({ client }: Db) {
  const first = client.prepare<{ seq: number | null }, []>(
    'select min(seq) as seq from passepartout_attempts',
  )
  const last = client.prepare<{ seq: number | null }, []>(
    'select max(seq) as seq from passepartout_attempts',
  )
  const from = client.prepare<{ seq: number; createdAt: number }, { seq: number }>(`
    select seq, created_at as createdAt from passepartout_attempts
    where seq >= +$seq order by seq limit 1`)
  const approved = client.prepare<{ seq: number }, Owner & TimeRange>(`
    select seq from passepartout_attempts
    where tenant_id = +$tenantId and environment = +$environment and state = 'approved'
      and seq > +$after and seq <= +$upTo limit ${MAX_COUNTED}`)

  /** Found by binary search, because the sequence follows time. */
  function seqAt(at: number): number {
    const [lowest, highest] = [first.get()?.seq, last.get()?.seq]
    if (lowest == null || highest == null) return 0
    let [low, high] = [lowest - 1, highest]
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      const found = from.get({ seq: middle })
      if (found && found.createdAt < at) low = Math.min(found.seq, high)
      else high = middle - 1
    }
    return low
  }

  return {
    seqAt,
    /** Approved sign-ins. */
    countOfApproved: ({ tenantId, environment }: Owner, range: TimeRange): number =>
      approved.values({ tenantId, environment, ...range }).length,
  }
}
