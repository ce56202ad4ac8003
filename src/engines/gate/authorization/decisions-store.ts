import { and, desc, eq, sql } from 'drizzle-orm'
import { compile } from '../../../db/compile.ts'
import type { Db } from '../../../db/open.ts'
import { rowOf } from '../../../db/placeholders.ts'
import { END, type Scan } from '../../../platform/scan.ts'
import { gateDecisions as decisions } from '../schema.ts'

export type DecisionRow = typeof decisions.$inferSelect
type NewDecisionRow = Omit<DecisionRow, 'seq'>

export function createDecisionStore({ orm, client }: Db) {
  const $ = sql.placeholder
  const mine = eq(decisions.tenantId, $('tenantId'))
  const behind = sql`${decisions.seq} < ${$('before')}`

  const insert = compile(client, orm.insert(decisions).values(rowOf(decisions)))
  const find = orm
    .select()
    .from(decisions)
    .where(and(mine, eq(decisions.id, $('id'))))
    .prepare()
  const all = orm
    .select()
    .from(decisions)
    .where(and(mine, behind))
    .orderBy(desc(decisions.seq))
    .limit($('limit'))
    .prepare()
  const ofSubject = orm
    .select()
    .from(decisions)
    .where(and(mine, eq(decisions.subject, $('subject')), behind))
    .orderBy(desc(decisions.seq))
    .limit($('limit'))
    .prepare()
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
    /** Newest first. */
    page: (tenantId: string, subject: string | undefined, { before = END, limit }: Scan) =>
      subject === undefined
        ? all.all({ tenantId, before, limit })
        : ofSubject.all({ tenantId, subject, before, limit }),
    removeBefore: (before: number, limit: number): number =>
      removeBefore.all({ before, limit }).length,
  }
}
