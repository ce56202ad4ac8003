import { and, asc, desc, eq, isNull, sql } from 'drizzle-orm'
import { compile } from '../../db/compile.ts'
import type { Db } from '../../db/open.ts'
import { changesOf, rowOf } from '../../db/placeholders.ts'
import { END, type Scan } from '../../platform/scan.ts'
import { endpointFilters, endpoints } from '../schema.ts'
import type { Stream } from '../stream.ts'

export type EndpointRow = typeof endpoints.$inferSelect
type NewEndpointRow = Omit<EndpointRow, 'seq' | 'deletedAt'>
export type DisabledReason = NonNullable<EndpointRow['disabledReason']>
type FilterRow = typeof endpointFilters.$inferSelect

/** Columns for matching and display, none of which is sealed. */
export type EndpointSummary = Pick<
  EndpointRow,
  'id' | 'url' | 'eventTypes' | 'channels' | 'isActive' | 'createdAt'
>

/** Filters kept per endpoint, including the current one. */
const FILTERS_KEPT = 100

export function createEndpointStore({ orm, client }: Db) {
  const $ = sql.placeholder
  const here = isNull(endpoints.deletedAt)
  const inStream = and(
    eq(endpoints.tenantId, $('tenantId')),
    eq(endpoints.stream, $('stream')),
    here,
  )
  const mine = and(inStream, eq(endpoints.id, $('id')))

  const insert = orm.insert(endpoints).values(rowOf(endpoints, 'deletedAt')).prepare()
  const update = orm
    .update(endpoints)
    .set(
      changesOf(
        'url',
        'description',
        'eventTypes',
        'channels',
        'format',
        'headers',
        'secrets',
        'isActive',
        'disabledReason',
        'updatedAt',
      ),
    )
    .where(mine)
    .prepare()
  const find = orm.select().from(endpoints).where(mine).prepare()
  const ofTenant = orm
    .select()
    .from(endpoints)
    .where(and(eq(endpoints.tenantId, $('tenantId')), eq(endpoints.id, $('id')), here))
    .prepare()
  const active = compile<{ is_active: number }>(
    client,
    orm
      .select({ isActive: endpoints.isActive })
      .from(endpoints)
      .where(and(eq(endpoints.tenantId, $('tenantId')), eq(endpoints.id, $('id')), here)),
  )
  const list = orm.select().from(endpoints).where(inStream).orderBy(asc(endpoints.seq)).prepare()
  const page = orm
    .select()
    .from(endpoints)
    .where(and(inStream, sql`${endpoints.seq} < ${$('before')}`))
    .orderBy(desc(endpoints.seq))
    .limit($('limit'))
    .prepare()
  const count = orm
    .select({ count: sql<number>`count(*)` })
    .from(endpoints)
    .where(inStream)
    .prepare()
  const disable = orm
    .update(endpoints)
    .set({ isActive: false, disabledReason: sql`${$('reason')}`, updatedAt: sql`${$('now')}` })
    .where(and(eq(endpoints.tenantId, $('tenantId')), eq(endpoints.id, $('id')), here))
    .prepare()
  const markDeleted = orm
    .update(endpoints)
    .set({ isActive: false, deletedAt: sql`${$('now')}` })
    .where(mine)
    .returning({ id: endpoints.id })
    .prepare()
  const deleted = orm
    .select({ tenantId: endpoints.tenantId, id: endpoints.id })
    .from(endpoints)
    .where(sql`${endpoints.deletedAt} is not null`)
    .limit($('limit'))
    .prepare()
  const remove = orm
    .delete(endpoints)
    .where(and(eq(endpoints.tenantId, $('tenantId')), eq(endpoints.id, $('id'))))
    .prepare()
  const addFilter = orm
    .insert(endpointFilters)
    .values(rowOf(endpointFilters))
    .onConflictDoUpdate({
      target: [endpointFilters.endpointId, endpointFilters.afterSeq],
      set: { eventTypes: sql`excluded.event_types`, channels: sql`excluded.channels` },
    })
    .prepare()
  const trimFilters = orm
    .delete(endpointFilters)
    .where(
      and(
        eq(endpointFilters.endpointId, $('endpointId')),
        sql`${endpointFilters.afterSeq} < (select after_seq from endpoint_filters
          where endpoint_id = ${$('endpointId')} order by after_seq desc
          limit 1 offset ${sql.raw(`${FILTERS_KEPT - 1}`)})`,
      ),
    )
    .prepare()
  const filterAt = orm
    .select()
    .from(endpointFilters)
    .where(
      and(
        eq(endpointFilters.endpointId, $('endpointId')),
        sql`${endpointFilters.afterSeq} < ${$('seq')}`,
      ),
    )
    .orderBy(desc(endpointFilters.afterSeq))
    .limit(1)
    .prepare()
  const filterCount = orm
    .select({ count: sql<number>`count(*)` })
    .from(endpointFilters)
    .where(eq(endpointFilters.endpointId, $('endpointId')))
    .prepare()

  return {
    insert: (row: NewEndpointRow) => void insert.run(row),
    update: ({ name }: Stream, row: EndpointRow) => void update.run({ ...row, stream: name }),
    find: ({ tenantId, name }: Stream, id: string): EndpointRow | undefined =>
      find.get({ tenantId, stream: name, id }),
    /** Finds an endpoint in any stream of the tenant. */
    ofTenant: (tenantId: string, id: string): EndpointRow | undefined =>
      ofTenant.get({ tenantId, id }),
    isActive: (tenantId: string, id: string): boolean =>
      active.get({ tenantId, id })?.is_active === 1,
    /** What matters for open deliveries; undefined if the endpoint is deleted. */
    receiver: (tenantId: string, id: string): Pick<EndpointRow, 'isActive'> | undefined => {
      const row = active.get({ tenantId, id })
      return row && { isActive: row.is_active === 1 }
    },
    /** Oldest first. */
    list: ({ tenantId, name }: Stream): EndpointRow[] => list.all({ tenantId, stream: name }),
    /** Newest first, starting after the endpoint at `before`. */
    page: ({ tenantId, name }: Stream, { before = END, limit }: Scan): EndpointRow[] =>
      page.all({ tenantId, stream: name, before, limit }),
    count: ({ tenantId, name }: Stream): number =>
      count.get({ tenantId, stream: name })?.count ?? 0,
    disable: (tenantId: string, id: string, reason: DisabledReason, now: number) =>
      void disable.run({ tenantId, id, reason, now }),
    /** Returns false if there is no such endpoint. */
    markDeleted: ({ tenantId, name }: Stream, id: string, now: number): boolean =>
      markDeleted.get({ tenantId, stream: name, id, now }) !== undefined,
    /** Deleted endpoints of all tenants. */
    deleted: (limit: number): { tenantId: string; id: string }[] => deleted.all({ limit }),
    remove: (tenantId: string, id: string) => void remove.run({ tenantId, id }),
    addFilter: (row: FilterRow) => {
      addFilter.run(row)
      trimFilters.run({ endpointId: row.endpointId })
    },
    /** The endpoint's filter when a message was accepted. */
    filterAt: (endpointId: string, seq: number): FilterRow | undefined =>
      filterAt.get({ endpointId, seq }),
    /** Whether older filters of the endpoint were deleted. */
    hasForgotten: (endpointId: string): boolean =>
      (filterCount.get({ endpointId })?.count ?? 0) >= FILTERS_KEPT,
  }
}
