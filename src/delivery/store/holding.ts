import { type SQL, sql } from 'drizzle-orm'
import type { Db } from '../../db/open.ts'
import { deliveries } from '../schema.ts'

/**
 * Holds, releases and cancels the deliveries of an endpoint in slices, because there may be very
 * many.
 */
export function createHoldingStore({ orm }: Db) {
  const $ = sql.placeholder
  const mine = sql`tenant_id = ${$('tenantId')} and endpoint_id = ${$('endpointId')}`
  const ready = sql`select seq from deliveries where state = 'ready' and line in (0, 1) and ${mine}`
  const open = sql`select seq from (
    select seq from deliveries where state = 'waiting' and ${mine} union all ${ready})`
  const held = sql`select seq from deliveries where state = 'held' and ${mine} order by due_at, seq`

  const moveSlice = (state: 'held' | 'ready', from: SQL) =>
    orm
      .update(deliveries)
      .set({ state })
      .where(sql`${deliveries.seq} in (${from} limit ${$('limit')})`)
      .returning({ seq: deliveries.seq })
      .prepare()
  const cancelSlice = (from: SQL) =>
    orm
      .update(deliveries)
      .set({ state: 'cancelled', endedAt: sql`${$('now')}` })
      .where(sql`${deliveries.seq} in (${from} limit ${$('limit')})`)
      .returning({ seq: deliveries.seq })
      .prepare()
  const park = moveSlice('held', open)
  const release = moveSlice('ready', held)
  const cancelOpen = cancelSlice(open)
  const cancelHeld = cancelSlice(held)
  const hold = orm
    .update(deliveries)
    .set({ state: 'held' })
    .where(sql`${deliveries.seq} in (select value from json_each(${$('seqs')}))`)
    .prepare()
  const cancelAfterwards = orm
    .update(deliveries)
    .set({ wanted: 'cancel' })
    .where(
      sql`${deliveries.seq} in (select seq from deliveries where state = 'leased' and ${mine})`,
    )
    .prepare()
  const readyCount = orm
    .select({ count: sql<number>`count(*)` })
    .from(sql`(${ready} limit ${$('most')})`)
    .prepare()

  return {
    hold: (seqs: number[]) => void hold.run({ seqs: JSON.stringify(seqs) }),
    /** Holds up to `limit` waiting or ready deliveries and returns how many. */
    park: (tenantId: string, endpointId: string, limit: number): number =>
      park.all({ tenantId, endpointId, limit }).length,
    /** Moves up to `limit` held deliveries to the queue, oldest first, and returns how many. */
    release: (tenantId: string, endpointId: string, limit: number): number =>
      release.all({ tenantId, endpointId, limit }).length,
    cancelOpen: (tenantId: string, endpointId: string, now: number, limit: number): number =>
      cancelOpen.all({ tenantId, endpointId, now, limit }).length,
    cancelHeld: (tenantId: string, endpointId: string, now: number, limit: number): number =>
      cancelHeld.all({ tenantId, endpointId, now, limit }).length,
    /** Requests cancellation of attempts in progress, unless they succeed. */
    cancelAfterwards: (tenantId: string, endpointId: string) =>
      void cancelAfterwards.run({ tenantId, endpointId }),
    /** The number of ready deliveries, counted up to `most`. */
    readyCount: (tenantId: string, endpointId: string, most: number): number =>
      readyCount.get({ tenantId, endpointId, most })?.count ?? 0,
  }
}
