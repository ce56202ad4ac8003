import { and, asc, eq, inArray, lt, sql } from 'drizzle-orm'
import type { Db } from '../../db/open.ts'
import { excludedOf, rowOf } from '../../db/placeholders.ts'
import type { Engine, Environment } from '../engines.ts'
import { tenants, usageDays, usageMonths } from '../schema.ts'
import type { TenantStatus } from '../tenants.ts'
import type { Terms } from './allowance.ts'

export type MonthRow = typeof usageMonths.$inferSelect
export type DayRow = typeof usageDays.$inferSelect

/** The plan, spend cap and status of a tenant. */
export type TenantTerms = Terms & { status: TenantStatus }

export type Store = ReturnType<typeof createStore>

/** The only file with SQL on usage. */
export function createStore({ orm }: Db) {
  const tenantId = sql.placeholder('tenantId')
  const ofMonth = and(
    eq(usageMonths.tenantId, tenantId),
    eq(usageMonths.month, sql.placeholder('month')),
  )
  const terms = orm
    .select({ plan: tenants.plan, status: tenants.status, spendCapCents: tenants.spendCapCents })
    .from(tenants)
    .where(eq(tenants.id, tenantId))
    .prepare()
  const month = orm.select().from(usageMonths).where(ofMonth).prepare()
  const months = orm
    .select()
    .from(usageMonths)
    .where(eq(usageMonths.tenantId, tenantId))
    .orderBy(asc(usageMonths.month))
    .prepare()
  const saveMonth = orm
    .insert(usageMonths)
    .values(rowOf(usageMonths))
    .onConflictDoUpdate({
      target: [usageMonths.tenantId, usageMonths.month],
      set: excludedOf(usageMonths, 'tenantId', 'month'),
    })
    .prepare()
  const addToDay = orm
    .insert(usageDays)
    .values({
      tenantId,
      day: sql.placeholder('day'),
      engine: sql.placeholder('engine'),
      environment: sql.placeholder('environment'),
      requests: sql.placeholder('requests'),
    })
    .onConflictDoUpdate({
      target: [usageDays.tenantId, usageDays.day, usageDays.engine, usageDays.environment],
      set: { requests: sql`${usageDays.requests} + excluded.requests` },
    })
    .prepare()
  const days = orm
    .select()
    .from(usageDays)
    .where(
      and(
        eq(usageDays.tenantId, tenantId),
        sql`${usageDays.day} >= ${sql.placeholder('from')}`,
        sql`${usageDays.day} <= ${sql.placeholder('to')}`,
      ),
    )
    .orderBy(asc(usageDays.day))
    .prepare()
  const removeDays = orm
    .delete(usageDays)
    .where(
      inArray(
        sql`(${usageDays.tenantId}, ${usageDays.day}, ${usageDays.engine}, ${usageDays.environment})`,
        orm
          .select({
            tenantId: usageDays.tenantId,
            day: usageDays.day,
            engine: usageDays.engine,
            environment: usageDays.environment,
          })
          .from(usageDays)
          .where(lt(usageDays.day, sql.placeholder('before')))
          .limit(sql.placeholder('limit')),
      ),
    )
    .returning({ day: usageDays.day })
    .prepare()
  const removeMonths = orm
    .delete(usageMonths)
    .where(
      inArray(
        sql`(${usageMonths.tenantId}, ${usageMonths.month})`,
        orm
          .select({ tenantId: usageMonths.tenantId, month: usageMonths.month })
          .from(usageMonths)
          .where(lt(usageMonths.month, sql.placeholder('before')))
          .limit(sql.placeholder('limit')),
      ),
    )
    .returning({ month: usageMonths.month })
    .prepare()

  return {
    terms: (tenantId: string): TenantTerms | undefined => terms.get({ tenantId }),
    month: (tenantId: string, name: string): MonthRow | undefined =>
      month.get({ tenantId, month: name }),
    months: (tenantId: string): MonthRow[] => months.all({ tenantId }),
    saveMonth: (row: MonthRow) => saveMonth.run(row),
    addToDay: (row: {
      tenantId: string
      day: string
      engine: Engine
      environment: Environment
      requests: number
    }) => addToDay.run(row),
    /** Usage by day, in order; both days are included. */
    days: (tenantId: string, from: string, to: string): DayRow[] =>
      days.all({ tenantId, from, to }),
    removeDays: (before: string, limit: number) => removeDays.all({ before, limit }).length,
    removeMonths: (before: string, limit: number) => removeMonths.all({ before, limit }).length,
  }
}
