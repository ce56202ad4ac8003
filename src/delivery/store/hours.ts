import { and, asc, eq, sql } from 'drizzle-orm'
import { compile } from '../../db/compile.ts'
import type { Db } from '../../db/open.ts'
import { HOUR_MS } from '../../platform/durations.ts'
import { endpointHours } from '../schema.ts'

export type HourRow = typeof endpointHours.$inferSelect
/** The amounts that one event adds to its hour. */
export type HourCounts = Omit<HourRow, 'endpointId' | 'hour'>

const NOTHING: HourCounts = {
  succeeded: 0,
  failed: 0,
  exhausted: 0,
  cancelled: 0,
  durationMs: 0,
  slowestMs: 0,
  upTo100: 0,
  upTo300: 0,
  upTo1000: 0,
  upTo3000: 0,
}

/** Counters per endpoint and hour. The caller must have checked whose endpoint it is. */
export function createHourStore({ orm, client }: Db) {
  const $ = sql.placeholder
  const columns = Object.keys(NOTHING) as (keyof HourCounts)[]
  const sums = columns
    .filter((name) => name !== 'slowestMs')
    .map((name) => {
      const column = sql.identifier(endpointHours[name].name)
      return [name, sql`${column} + excluded.${column}`]
    })
  const add = compile(
    client,
    orm
      .insert(endpointHours)
      .values({
        endpointId: $('endpointId'),
        hour: $('hour'),
        ...(Object.fromEntries(columns.map((name) => [name, $(name)])) as Record<
          keyof HourCounts,
          ReturnType<typeof $>
        >),
      })
      .onConflictDoUpdate({
        target: [endpointHours.endpointId, endpointHours.hour],
        set: { ...Object.fromEntries(sums), slowestMs: sql`max(slowest_ms, excluded.slowest_ms)` },
      }),
  )
  const between = orm
    .select()
    .from(endpointHours)
    .where(
      and(
        eq(endpointHours.endpointId, $('endpointId')),
        sql`${endpointHours.hour} >= ${$('since')}`,
        sql`${endpointHours.hour} < ${$('until')}`,
      ),
    )
    .orderBy(asc(endpointHours.hour))
    .prepare()
  const exhausted = orm
    .select({ sum: sql<number | null>`sum(${endpointHours.exhausted})` })
    .from(endpointHours)
    .where(
      and(
        eq(endpointHours.endpointId, $('endpointId')),
        sql`${endpointHours.hour} >= ${$('since')}`,
      ),
    )
    .prepare()
  const lastSuccess = orm
    .select({ hour: sql<number | null>`max(${endpointHours.hour})` })
    .from(endpointHours)
    .where(and(eq(endpointHours.endpointId, $('endpointId')), sql`${endpointHours.succeeded} > 0`))
    .prepare()
  const removeBefore = orm
    .delete(endpointHours)
    .where(
      sql`rowid in (select rowid from endpoint_hours where hour < ${$('before')}
        order by hour limit ${$('limit')})`,
    )
    .returning({ hour: endpointHours.hour })
    .prepare()

  return {
    add: (endpointId: string, now: number, counts: Partial<HourCounts>) =>
      add.run({ ...NOTHING, ...counts, endpointId, hour: hourOf(now) }),
    /** Ordered by time; `since` and `until` in milliseconds. */
    between: (endpointId: string, since: number, until: number): HourRow[] =>
      between.all({ endpointId, since: hourOf(since), until }),
    /** Deliveries that ended without success, from the hour of `since`. */
    exhaustedSince: (endpointId: string, since: number): number =>
      exhausted.get({ endpointId, since: hourOf(since) })?.sum ?? 0,
    /** End of the last hour in which an attempt succeeded. */
    lastSuccessBefore: (endpointId: string): number | undefined => {
      const hour = lastSuccess.get({ endpointId })?.hour
      return hour == null ? undefined : hour + HOUR_MS
    },
    removeBefore: (before: number, limit: number): number =>
      removeBefore.all({ before, limit }).length,
  }
}

export const hourOf = (ms: number) => ms - (ms % HOUR_MS)
