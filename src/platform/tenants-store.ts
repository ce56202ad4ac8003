import { and, asc, eq, isNotNull, isNull, ne, type SQL, sql } from 'drizzle-orm'
import { type Order, type Range, sortable } from '../db/keyset.ts'
import type { Db } from '../db/open.ts'
import { tenants } from './schema.ts'
import { SYSTEM_TENANT_ID } from './system-tenant.ts'
import { UTC } from './time-zone.ts'

export type TenantRow = typeof tenants.$inferSelect
export type TenantStatus = TenantRow['status']

type NewTenantRow = Pick<TenantRow, 'id' | 'name' | 'plan'> &
  Partial<Pick<TenantRow, 'spendCapCents' | 'timeZone'>> & { now: number }

/** IDs begin with their creation time. */
export const SORT_KEYS = {
  created: { value: tenants.id, type: 'string' },
  name: { value: sql`lower(${tenants.name})`, type: 'string' },
} as const

interface Sorted extends Order<keyof typeof SORT_KEYS>, Range {
  status?: TenantStatus | undefined
}

/**
 * The only file with SQL on tenants. Lists exclude the system tenant, whose id sorts first, and everything
 * but `deleting` excludes tenants that are being deleted.
 */
export function createTenantStore({ orm }: Db) {
  const $ = sql.placeholder
  const byId = eq(tenants.id, $('id'))
  const isKept = isNull(tenants.deletionStartedAt)
  const isNotSystem = and(sql`${tenants.id} > ${SYSTEM_TENANT_ID}`, isKept)
  const columns = {
    name: $('name'),
    plan: $('plan'),
    status: $('status'),
    spendCapCents: $('spendCapCents'),
    timeZone: $('timeZone'),
    updatedAt: $('updatedAt'),
  }
  const insert = orm
    .insert(tenants)
    .values({ ...columns, id: $('id'), createdAt: $('createdAt') })
    .returning()
    .prepare()
  const save = orm
    .update(tenants)
    .set(columns as never)
    .where(byId)
    .returning()
    .prepare()
  const find = orm.select().from(tenants).where(and(byId, isNotSystem)).prepare()
  const name = orm.select({ name: tenants.name }).from(tenants).where(and(byId, isKept)).prepare()
  const zone = orm.select({ zone: tenants.timeZone }).from(tenants).where(byId).prepare()
  const startDeletion = orm
    .update(tenants)
    .set({ deletionStartedAt: sql`${$('now')}` })
    .where(and(byId, isNotSystem))
    .prepare()
  const deleting = orm
    .select({ id: tenants.id })
    .from(tenants)
    .where(isNotNull(tenants.deletionStartedAt))
    .limit(1)
    .prepare()
  const all = orm
    .select()
    .from(tenants)
    .where(isNotSystem)
    .orderBy(asc(tenants.createdAt), asc(tenants.id))
    .prepare()

  const listed = and(ne(tenants.id, SYSTEM_TENANT_ID), isKept)
  const sorted = (also?: SQL) =>
    sortable({ keys: SORT_KEYS, seq: tenants.id }, (where, orderBy) =>
      orm
        .select()
        .from(tenants)
        .where(and(listed, also, where))
        .orderBy(...orderBy)
        .limit($('limit'))
        .prepare(),
    )
  const [allSorted, sortedInStatus] = [sorted(), sorted(eq(tenants.status, $('status')))]
  const some = orm
    .select({ status: tenants.status })
    .from(tenants)
    .where(isNotSystem)
    .limit($('most'))
    .as('some')
  const counted = orm
    .select({ status: some.status, count: sql<number>`count(*)` })
    .from(some)
    .groupBy(some.status)
    .prepare()

  return {
    insert: ({ now, ...row }: NewTenantRow) =>
      insert.get({
        ...{ status: 'active', spendCapCents: null, timeZone: UTC, ...row },
        ...{ createdAt: now, updatedAt: now },
      }),
    save: (row: TenantRow): TenantRow => save.get(row as never),
    find: (id: string): TenantRow | undefined => find.get({ id }),
    timeZoneOf: (id: string): string | undefined => zone.get({ id })?.zone,
    nameOf: (id: string): string | undefined => name.get({ id })?.name,
    /** From now on, the tenant is not found. */
    startDeletion: (id: string, now: number) => void startDeletion.run({ id, now }),
    /** A tenant whose data is still to be deleted. */
    deleting: (): string | undefined => deleting.get()?.id,
    all: (): TenantRow[] => all.all(),
    /** In an order, from a position. */
    sorted: ({ status, by, isDescending, ...range }: Sorted): TenantRow[] =>
      (status ? sortedInStatus : allSorted)({ by, isDescending }, { status }, range),
    /** The number of tenants per status, among no more than `most`. */
    counts: (most: number) => counted.all({ most }),
  }
}
