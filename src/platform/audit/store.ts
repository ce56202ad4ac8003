import { and, asc, desc, eq, gt, gte, inArray, lt, lte, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../db/open.ts'
import { rowOf } from '../../db/placeholders.ts'
import { auditLog } from '../schema.ts'

export type AuditRow = typeof auditLog.$inferSelect

/** A range of row numbers, both inclusive. */
export interface Span {
  first: number
  last: number
}

/** A period in milliseconds since the epoch; `until` is exclusive. */
export interface Period {
  since: number
  until: number
}

/** The only SQL on the audit log. Rows are added, read and deleted by age, but never changed. */
export function createAuditStore({ orm }: Db) {
  const $ = sql.placeholder

  const insert = orm.insert(auditLog).values(rowOf(auditLog)).prepare()

  const removeBefore = orm
    .delete(auditLog)
    .where(
      inArray(
        auditLog.seq,
        orm
          .select({ seq: auditLog.seq })
          .from(auditLog)
          .where(sql`${auditLog.at} < ${$('before')}`)
          .orderBy(asc(auditLog.at))
          .limit($('limit')),
      ),
    )
    .returning({ seq: auditLog.seq })
    .prepare()

  const within = [lte(auditLog.seq, $('last')), gte(auditLog.seq, $('first'))]
  const ofTenant = eq(auditLog.tenantId, $('tenantId'))
  const backwards = (whose: SQL | undefined) =>
    orm
      .select()
      .from(auditLog)
      .where(and(whose, ...within))
      .orderBy(desc(auditLog.seq))
      .limit($('limit'))
      .prepare()
  const forwards = (whose: SQL | undefined) =>
    orm
      .select()
      .from(auditLog)
      .where(and(whose, ...within))
      .orderBy(asc(auditLog.seq))
      .limit($('limit'))
      .prepare()
  const about = orm
    .select()
    .from(auditLog)
    .where(
      and(
        ofTenant,
        eq(auditLog.object, $('object')),
        // With two comparisons, SQLite would search the object in the whole log of the tenant.
        sql`${auditLog.seq} between ${$('first')} and ${$('last')}`,
      ),
    )
    .orderBy(desc(auditLog.seq))
    .limit($('limit'))
    .prepare()
  const newest = { all: backwards(undefined), ofTenant: backwards(ofTenant) }
  const oldest = { all: forwards(undefined), ofTenant: forwards(ofTenant) }

  /** The plus sign keeps SQLite from scanning the table to find the lowest number. */
  const between = orm
    .select({
      first: sql<number | null>`min(+${auditLog.seq})`,
      last: sql<number | null>`max(+${auditLog.seq})`,
    })
    .from(auditLog)
    .where(and(gte(auditLog.at, $('since')), lt(auditLog.at, $('until'))))
    .prepare()
  const last = orm
    .select({ seq: auditLog.seq })
    .from(auditLog)
    .where(gt(auditLog.seq, 0))
    .orderBy(desc(auditLog.seq))
    .limit(1)
    .prepare()

  const read =
    (statements: typeof newest) =>
    (tenantId: string | undefined, span: Span, limit: number): AuditRow[] =>
      tenantId === undefined
        ? statements.all.all({ ...span, limit })
        : statements.ofTenant.all({ ...span, limit, tenantId })

  return {
    insert: (row: Omit<AuditRow, 'seq'>) => insert.run(row),
    /** Deletes up to `limit` rows older than `before` and returns their number. */
    removeBefore: (before: number, limit: number): number =>
      removeBefore.all({ before, limit }).length,
    /** Newest first. */
    about: (tenantId: string, object: string, span: Span, limit: number): AuditRow[] =>
      about.all({ tenantId, object, ...span, limit }),
    newest: read(newest),
    oldest: read(oldest),
    /** The range of rows recorded in a period; undefined if there are none. */
    spanOf(period: Period): Span | undefined {
      const { first, last } = between.get({ ...period }) ?? { first: null, last: null }
      return first === null || last === null ? undefined : { first, last }
    },
    last: (): number => last.get()?.seq ?? 0,
  }
}
