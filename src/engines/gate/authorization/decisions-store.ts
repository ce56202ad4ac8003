import { and, asc, count, desc, eq, sql } from 'drizzle-orm'
import { compile } from '../../../db/compile.ts'
import type { Db } from '../../../db/open.ts'
import { rowOf } from '../../../db/placeholders.ts'
import { createSeqFrom } from '../../../db/seq-from.ts'
import { END, type Window } from '../../../platform/scan.ts'
import { gateDecisions as decisions } from '../schema.ts'

export type DecisionRow = typeof decisions.$inferSelect
type NewDecisionRow = Omit<DecisionRow, 'seq'>

interface Outcome {
  subject?: string | undefined
  isAllowed: boolean
}

export function createDecisionStore({ orm, client }: Db) {
  const $ = sql.placeholder
  const mine = eq(decisions.tenantId, $('tenantId'))
  // With two comparisons, SQLite would search a subject in all decisions of the tenant.
  const isWithin = sql`${decisions.seq} between ${$('after')} + 1 and ${$('before')} - 1`

  const insert = compile(client, orm.insert(decisions).values(rowOf(decisions)))
  const find = orm
    .select()
    .from(decisions)
    .where(and(mine, eq(decisions.id, $('id'))))
    .prepare()
  const withResult = and(mine, eq(decisions.isAllowed, $('isAllowed')))
  const [all, ofSubject] = [undefined, eq(decisions.subject, $('subject'))].map((subject) =>
    [asc, desc].map((direction) =>
      orm
        .select()
        .from(decisions)
        .where(and(withResult, subject, isWithin))
        .orderBy(direction(decisions.seq))
        .limit($('limit'))
        .prepare(),
    ),
  )
  const some = orm
    .select({ seq: decisions.seq })
    .from(decisions)
    .where(and(mine, eq(decisions.isAllowed, false)))
    .limit($('most'))
    .as('some')
  const denied = orm.select({ count: count() }).from(some).prepare()
  const removeBefore = orm
    .delete(decisions)
    .where(
      sql`seq in (select seq from gate_decisions where at < ${$('before')}
        order by at limit ${$('limit')})`,
    )
    .returning({ seq: decisions.seq })
    .prepare()

  return {
    insert: (row: NewDecisionRow) => void insert.run({ ...row, isAllowed: row.isAllowed ? 1 : 0 }),
    find: (tenantId: string, id: string): DecisionRow | undefined => find.get({ tenantId, id }),
    /** With one result, newest first unless the window is ascending. */
    page: (tenantId: string, of: Outcome, window: Window): DecisionRow[] => {
      const { before = END, after = 0, limit, isAscending = false } = window
      const statement = (of.subject === undefined ? all : ofSubject)?.[isAscending ? 0 : 1]
      return statement?.all({ tenantId, ...of, before, after, limit }) ?? []
    },
    /** The number of denied decisions, up to `most`. */
    countDenied: (tenantId: string, most: number): number =>
      denied.get({ tenantId, most })?.count ?? 0,
    /** The number of the first decision from a time on. */
    seqFrom: createSeqFrom(client, 'gate_decisions', 'at'),
    removeBefore: (before: number, limit: number): number =>
      removeBefore.all({ before, limit }).length,
  }
}
