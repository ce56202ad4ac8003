import { and, asc, eq, sql } from 'drizzle-orm'
import { compile } from '../../../db/compile.ts'
import type { Db } from '../../../db/open.ts'
import { rowOf } from '../../../db/placeholders.ts'
import { HOUR_MS } from '../../../platform/durations.ts'
import { clockworkHours } from '../schema.ts'
import type { ExecutionResult } from './executions.ts'

/** The number of attempts that ended in an hour, by result. */
export type HourOutcomes = Omit<typeof clockworkHours.$inferSelect, 'tenantId'>

/** Hourly counts of attempts, which outlive the attempts themselves. */
export function createHourStore({ orm, client }: Db) {
  const $ = sql.placeholder
  const add = compile(
    client,
    orm
      .insert(clockworkHours)
      .values(rowOf(clockworkHours))
      .onConflictDoUpdate({
        target: [clockworkHours.tenantId, clockworkHours.hour],
        set: {
          succeeded: sql`${clockworkHours.succeeded} + excluded.succeeded`,
          failed: sql`${clockworkHours.failed} + excluded.failed`,
        },
      }),
  )
  const between = orm
    .select({
      hour: clockworkHours.hour,
      succeeded: clockworkHours.succeeded,
      failed: clockworkHours.failed,
    })
    .from(clockworkHours)
    .where(
      and(
        eq(clockworkHours.tenantId, $('tenantId')),
        sql`${clockworkHours.hour} >= ${$('from')} and ${clockworkHours.hour} <= ${$('to')}`,
      ),
    )
    .orderBy(asc(clockworkHours.hour))
    .prepare()
  const removeBefore = orm
    .delete(clockworkHours)
    .where(
      sql`rowid in (select rowid from clockwork_hours where hour < ${$('before')}
        order by hour limit ${$('limit')})`,
    )
    .returning({ hour: clockworkHours.hour })
    .prepare()

  return {
    /** Counts an attempt in the hour in which it ended. */
    add: (tenantId: string, { status, completedAt }: ExecutionResult) =>
      add.run({
        tenantId,
        hour: hourOf(completedAt),
        succeeded: status === 'success' ? 1 : 0,
        failed: status === 'failed' ? 1 : 0,
      }),
    /** The hours from that of `from` to that of `to` in which any attempt ended. */
    between: (tenantId: string, from: number, to: number): HourOutcomes[] =>
      between.all({ tenantId, from: hourOf(from), to: hourOf(to) }),
    removeBefore: (before: number, limit: number): number =>
      removeBefore.all({ before, limit }).length,
  }
}

/** First millisecond of the UTC hour of a time. */
export const hourOf = (at: number): number => at - (at % HOUR_MS)
