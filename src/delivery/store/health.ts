import { asc, desc, eq, getTableColumns, type SQL, sql } from 'drizzle-orm'
import { compile, named } from '../../db/compile.ts'
import type { Db } from '../../db/open.ts'
import { excludedOf, rowOf } from '../../db/placeholders.ts'
import { endpointHealth } from '../schema.ts'

export type HealthRow = typeof endpointHealth.$inferSelect

/** Only the due loop and the endpoint service call it, with ids that they have checked. */
export function createHealthStore({ orm, client }: Db) {
  const $ = sql.placeholder
  const find = compile<Omit<HealthRow, 'isReleasing'> & { isReleasing: number }>(
    client,
    orm
      .select(named(getTableColumns(endpointHealth)))
      .from(endpointHealth)
      .where(eq(endpointHealth.endpointId, $('endpointId'))),
  )
  const put = orm
    .insert(endpointHealth)
    .values(rowOf(endpointHealth))
    .onConflictDoUpdate({
      target: endpointHealth.endpointId,
      set: excludedOf(endpointHealth, 'endpointId', 'tenantId'),
    })
    .prepare()
  const pause = (order: SQL) =>
    orm
      .select({ at: endpointHealth.openUntil })
      .from(endpointHealth)
      .where(sql`${endpointHealth.openUntil} is not null`)
      .orderBy(order)
      .limit(1)
      .prepare()
  const first = pause(asc(endpointHealth.openUntil))
  const last = pause(desc(endpointHealth.openUntil))
  const pausedUntil = (condition: SQL) =>
    orm.select().from(endpointHealth).where(condition).limit($('limit')).prepare()
  const over = pausedUntil(sql`${endpointHealth.openUntil} <= ${$('at')}`)
  const beyond = pausedUntil(sql`${endpointHealth.openUntil} > ${$('at')}`)
  const ofIt = sql`d.tenant_id = ${endpointHealth.tenantId} and d.endpoint_id = ${endpointHealth.endpointId}`
  /** Endpoints in release with held deliveries, but none ready or in progress to continue it. */
  const stalled = orm
    .select()
    .from(endpointHealth)
    .where(
      sql`${endpointHealth.isReleasing} = 1
        and exists (select 1 from deliveries d where ${ofIt} and d.state = 'held')
        and not exists (select 1 from deliveries d where ${ofIt} and d.state = 'leased')
        and not exists (select 1 from deliveries d where ${ofIt} and d.state = 'ready' and d.line in (0, 1))`,
    )
    .limit($('limit'))
    .prepare()

  return {
    find: (endpointId: string): HealthRow | undefined => {
      const row = find.get({ endpointId })
      return row && { ...row, isReleasing: row.isReleasing === 1 }
    },
    put: (row: HealthRow) => void put.run(row),
    /** When the first breaker's pause ends. `lastPauseEnd` is the last. */
    firstPauseEnd: (): number | undefined => first.get()?.at ?? undefined,
    lastPauseEnd: (): number | undefined => last.get()?.at ?? undefined,
    /** Open breakers whose pause ends by `at`. */
    over: (at: number, limit: number): HealthRow[] => over.all({ at, limit }),
    /** Open breakers whose pause ends after `at`. */
    beyond: (at: number, limit: number): HealthRow[] => beyond.all({ at, limit }),
    stalled: (limit: number): HealthRow[] => stalled.all({ limit }),
  }
}
