import { and, asc, desc, eq, isNotNull, isNull, type SQL, sql } from 'drizzle-orm'
import type { Db } from '../db/open.ts'
import { tenants } from './schema.ts'
import { SYSTEM_TENANT_ID } from './system-tenant.ts'
import { UTC } from './time-zone.ts'

export type TenantRow = typeof tenants.$inferSelect
export type TenantStatus = TenantRow['status']

/** A part of the list, starting after the tenant `after`. */
export interface TenantScan {
  status?: TenantStatus | undefined
  /** A prefix of the name; the list is then sorted by name. */
  search?: string | undefined
  after?: string | undefined
  limit: number
}

/** Sorts after every character in a name. */
const LAST = '\u{10ffff}'
/** Sorts after every id; ids begin with their creation time, so the newest sort last. */
const NEWEST = '~'

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

  const folded = sql`lower(${tenants.name})`
  const inStatus = eq(tenants.status, $('status'))
  const newest = (also?: SQL) =>
    orm
      .select()
      .from(tenants)
      .where(and(isNotSystem, sql`${tenants.id} < ${$('after')}`, also))
      .orderBy(desc(tenants.id))
      .limit($('limit'))
      .prepare()
  const named = (also?: SQL) =>
    orm
      .select()
      .from(tenants)
      .where(
        and(
          isNotSystem,
          sql`${folded} >= lower(${$('from')})`,
          sql`${folded} < lower(${$('to')})`,
          sql`(${$('after')} is null or (${folded}, ${tenants.id}) > (select lower(name), id
            from tenants where id = ${$('after')}))`,
          also,
        ),
      )
      .orderBy(asc(folded), asc(tenants.id))
      .limit($('limit'))
      .prepare()
  const lists = {
    newest: newest(),
    newestInStatus: newest(inStatus),
    named: named(),
    namedInStatus: named(inStatus),
  }
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

  function page({ status, search, after, limit }: TenantScan): TenantRow[] {
    if (search === undefined) {
      const scan = { after: after ?? NEWEST, limit }
      return status ? lists.newestInStatus.all({ ...scan, status }) : lists.newest.all(scan)
    }
    const scan = { from: search, to: search + LAST, after: after ?? null, limit }
    return status ? lists.namedInStatus.all({ ...scan, status }) : lists.named.all(scan)
  }

  return {
    insert: (row: Pick<TenantRow, 'id' | 'name' | 'plan'> & { now: number }) =>
      insert.get({
        id: row.id,
        name: row.name,
        plan: row.plan,
        status: 'active',
        spendCapCents: null,
        timeZone: UTC,
        createdAt: row.now,
        updatedAt: row.now,
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
    /** A part of the list: newest first, or by name in a search. */
    page,
    /** The number of tenants per status, among no more than `most`. */
    counts: (most: number) => counted.all({ most }),
  }
}
