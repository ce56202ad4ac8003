import { and, asc, desc, eq, gt, isNotNull, isNull, lte, sql } from 'drizzle-orm'
import { type Order, type Range, sortable } from '../../db/keyset.ts'
import type { Db } from '../../db/open.ts'
import { changesOf, rowOf } from '../../db/placeholders.ts'
import { apiKeys, keyOrder, tenants } from '../schema.ts'

type TenantRow = typeof tenants.$inferSelect

export type KeyRow = typeof apiKeys.$inferSelect

export type NewKeyRow = Omit<KeyRow, 'lastUsedAt' | 'revokedAt' | 'replacedBy'>

/** The columns of a key that change while it is in use. */
export type KeyEdit = Pick<KeyRow, 'name' | 'note' | 'scopes' | 'expiresAt' | 'lifetimeMs'>

/** The data of a key and its tenant that requests need. */
export type KeyWithTenant = Pick<
  KeyRow,
  | 'id'
  | 'tenantId'
  | 'engines'
  | 'environment'
  | 'scopes'
  | 'lastUsedAt'
  | 'expiresAt'
  | 'revokedAt'
> & {
  tenantStatus: TenantRow['status']
  plan: TenantRow['plan']
  spendCapCents: TenantRow['spendCapCents']
}

const { name, used, expires } = keyOrder(apiKeys)
export const SORT_KEYS = {
  created: { value: apiKeys.createdAt, type: 'number' },
  name: { value: name, type: 'string' },
  used: { value: used, type: 'number' },
  expires: { value: expires, type: 'number' },
} as const

type Sorted = Order<keyof typeof SORT_KEYS> & Range

/** All SQL on API keys. */
export function createKeyStore({ orm }: Db) {
  const byId = eq(apiKeys.id, sql.placeholder('id'))
  const insert = orm
    .insert(apiKeys)
    .values(rowOf(apiKeys, 'lastUsedAt', 'revokedAt', 'replacedBy'))
    .prepare()
  const find = orm.select().from(apiKeys).where(byId).prepare()
  const findByHash = orm
    .select({
      id: apiKeys.id,
      tenantId: apiKeys.tenantId,
      tenantStatus: tenants.status,
      plan: tenants.plan,
      spendCapCents: tenants.spendCapCents,
      engines: apiKeys.engines,
      environment: apiKeys.environment,
      scopes: apiKeys.scopes,
      lastUsedAt: apiKeys.lastUsedAt,
      expiresAt: apiKeys.expiresAt,
      revokedAt: apiKeys.revokedAt,
    })
    .from(apiKeys)
    .innerJoin(tenants, eq(tenants.id, apiKeys.tenantId))
    .where(and(eq(apiKeys.hash, sql.placeholder('hash')), isNull(tenants.deletionStartedAt)))
    .prepare()
  const ofTenant = orm
    .select()
    .from(apiKeys)
    .where(eq(apiKeys.tenantId, sql.placeholder('tenantId')))
    .orderBy(desc(apiKeys.createdAt), desc(apiKeys.id))
    .prepare()
  const sorted = sortable({ keys: SORT_KEYS, seq: apiKeys.id }, (where, orderBy) =>
    orm
      .select()
      .from(apiKeys)
      .where(and(eq(apiKeys.tenantId, sql.placeholder('tenantId')), where))
      .orderBy(...orderBy)
      .limit(sql.placeholder('limit'))
      .prepare(),
  )
  const all = orm
    .select()
    .from(apiKeys)
    .orderBy(desc(apiKeys.createdAt), desc(apiKeys.id))
    .prepare()
  const touch = orm
    .update(apiKeys)
    .set({ lastUsedAt: sql`${sql.placeholder('at')}` })
    .where(byId)
    .prepare()
  const revoke = orm
    .update(apiKeys)
    .set({ revokedAt: sql`${sql.placeholder('at')}` })
    .where(byId)
    .returning()
    .prepare()
  const supersede = orm
    .update(apiKeys)
    .set({
      replacedBy: sql`${sql.placeholder('replacedBy')}`,
      expiresAt: sql`${sql.placeholder('expiresAt')}`,
    })
    .where(and(byId, isNull(apiKeys.replacedBy)))
    .prepare()

  const change = orm
    .update(apiKeys)
    .set(changesOf('name', 'note', 'scopes', 'expiresAt', 'lifetimeMs'))
    .where(byId)
    .returning()
    .prepare()
  const expiring = orm
    .select()
    .from(apiKeys)
    .where(
      and(
        eq(apiKeys.tenantId, sql.placeholder('tenantId')),
        isNotNull(apiKeys.expiresAt),
        gt(apiKeys.expiresAt, sql.placeholder('after')),
        lte(apiKeys.expiresAt, sql.placeholder('until')),
        isNull(apiKeys.revokedAt),
        isNull(apiKeys.replacedBy),
      ),
    )
    .orderBy(asc(apiKeys.expiresAt))
    .limit(sql.placeholder('limit'))
    .prepare()

  return {
    insert: (row: NewKeyRow) => insert.run(row),
    find: (id: string): KeyRow | undefined => find.get({ id }),
    findByHash: (hash: string): KeyWithTenant | undefined => findByHash.get({ hash }),
    ofTenant: (tenantId: string): KeyRow[] => ofTenant.all({ tenantId }),
    /** Keys, newest first, starting after `before`. */
    /** In an order, from a position. */
    sorted: (tenantId: string, { by, isDescending, ...range }: Sorted): KeyRow[] =>
      sorted({ by, isDescending }, { tenantId }, range),
    all: (): KeyRow[] => all.all(),
    /** Keys in use that end after `after` and by `until`, the first to end first. */
    expiring: (
      tenantId: string,
      range: { after: number; until: number; limit: number },
    ): KeyRow[] => expiring.all({ tenantId, ...range }),
    change: (id: string, edit: KeyEdit): KeyRow => change.get({ id, ...edit }),
    touch: (id: string, at: number) => touch.run({ id, at }),
    revoke: (id: string, at: number): KeyRow => revoke.get({ id, at }),
    supersede: (id: string, replacedBy: string, expiresAt: number) =>
      supersede.run({ id, replacedBy, expiresAt }),
  }
}
