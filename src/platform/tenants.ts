import { and, asc, eq, ne, sql } from 'drizzle-orm'
import type { Db } from '../db/open.ts'
import type { Actor, Audit } from './audit/index.ts'
import { type Clock, isoTime } from './clock.ts'
import { fail, invalid, notFound } from './errors.ts'
import { HOUSE_ID } from './house.ts'
import { newId } from './ids.ts'
import { createImportStore } from './portable/imports-store.ts'
import { tenants } from './schema.ts'
import { LINE_TRICKS } from './tricks.ts'

export const PLANS = ['free', 'metered', 'unlimited'] as const
export type Plan = (typeof PLANS)[number]

/** Why a tenant is held: `billing` for an open bill, `renewal` for an unpaid renewal. */
export const SUSPEND_REASONS = ['billing', 'renewal'] as const
export type SuspendReason = (typeof SUSPEND_REASONS)[number]

export type TenantRow = typeof tenants.$inferSelect
export type TenantStatus = TenantRow['status']

/** A tenant as the command line and the console show it. */
export interface Tenant {
  id: string
  name: string
  plan: Plan
  status: TenantStatus
  spend_cap_cents: number | null
  created_at: string
  updated_at: string
}

export interface TenantChange {
  name?: string
  plan?: Plan
  /** Null takes the cap away; the default cap applies then. */
  spendCapCents?: number | null
}

const NAME_LIMIT = 200

export type Tenants = ReturnType<typeof createTenants>

/**
 * Tenants are the boundary of all data; each change leaves an audit row. The house, whose people
 * are the operators, is none of them.
 */
export function createTenants(parts: {
  db: Db
  clock: Clock
  audit: Audit
  /** Called within the commit of a change: what was remembered of the tenant is out of date. */
  onChange: () => void
}) {
  const { db, clock, audit, onChange } = parts
  const store = createStore(db)
  const imports = createImportStore(db)

  const create = async (actor: Actor, input: { name: string; plan: Plan }): Promise<Tenant> =>
    db.commit(() => add(actor, input))

  /** Within a commit. Throws `invalid` for a name that a list has no place for. */
  function add(actor: Actor, { name: given, plan }: { name: string; plan: Plan }): Tenant {
    const name = checkedName(given)
    const row = store.insert({ id: newId(), name, plan, now: clock.now() })
    record(actor, 'tenant.created', row, { name, plan })
    return present(row)
  }

  const list = (): Tenant[] => store.all().map(present)

  const find = (id: string): Tenant => present(existing(id))

  const exists = (id: string): boolean => store.find(id) !== undefined

  /** What people are told they sign in to: of the house as well. */
  const nameOf = (id: string): string => store.nameOf(id) ?? fail(notFound('tenant not found'))

  async function change(actor: Actor, id: string, input: TenantChange): Promise<Tenant> {
    const changes = checkedChange(input)
    return update(actor, 'tenant.changed', id, changes)
  }

  const suspend = (actor: Actor, id: string, reason: SuspendReason): Promise<Tenant> =>
    update(actor, 'tenant.suspended', id, {
      status: reason === 'billing' ? 'suspended' : 'renewal_unpaid',
    })

  const resume = (actor: Actor, id: string): Promise<Tenant> =>
    update(actor, 'tenant.resumed', id, { status: 'active' })

  function update(actor: Actor, action: string, id: string, changes: Partial<TenantRow>) {
    return db.commit(() => {
      imports.refuseUnfinished(id)
      const row = store.save({ ...existing(id), ...changes, updatedAt: clock.now() })
      record(actor, action, row, changes)
      onChange()
      return present(row)
    })
  }

  const existing = (id: string): TenantRow => store.find(id) ?? fail(notFound('tenant not found'))

  const record = (actor: Actor, action: string, row: TenantRow, detail: Record<string, unknown>) =>
    audit.record({ tenantId: row.id, actor, action, object: `tenant:${row.id}`, detail })

  return { create, add, list, find, exists, nameOf, change, suspend, resume }
}

function createStore({ orm }: Db) {
  const columns = {
    name: sql.placeholder('name'),
    plan: sql.placeholder('plan'),
    status: sql.placeholder('status'),
    spendCapCents: sql.placeholder('spendCapCents'),
    updatedAt: sql.placeholder('updatedAt'),
  }
  const insert = orm
    .insert(tenants)
    .values({ ...columns, id: sql.placeholder('id'), createdAt: sql.placeholder('createdAt') })
    .returning()
    .prepare()
  const save = orm
    .update(tenants)
    .set(columns as never)
    .where(eq(tenants.id, sql.placeholder('id')))
    .returning()
    .prepare()
  const isNoHouse = ne(tenants.id, HOUSE_ID)
  const find = orm
    .select()
    .from(tenants)
    .where(and(eq(tenants.id, sql.placeholder('id')), isNoHouse))
    .prepare()
  const name = orm
    .select({ name: tenants.name })
    .from(tenants)
    .where(eq(tenants.id, sql.placeholder('id')))
    .prepare()
  const all = orm
    .select()
    .from(tenants)
    .where(isNoHouse)
    .orderBy(asc(tenants.createdAt), asc(tenants.id))
    .prepare()
  return {
    insert: ({ id, name, plan, now }: { id: string; name: string; plan: Plan; now: number }) =>
      insert.get({
        id,
        name,
        plan,
        status: 'active',
        spendCapCents: null,
        createdAt: now,
        updatedAt: now,
      }),
    save: (row: TenantRow): TenantRow => save.get(row as never),
    find: (id: string): TenantRow | undefined => find.get({ id }),
    nameOf: (id: string): string | undefined => name.get({ id })?.name,
    all: (): TenantRow[] => all.all(),
  }
}

function present({ spendCapCents, createdAt, updatedAt, ...row }: TenantRow): Tenant {
  const { id, name, plan, status } = row
  return {
    id,
    name,
    plan,
    status,
    spend_cap_cents: spendCapCents,
    created_at: isoTime(createdAt),
    updated_at: isoTime(updatedAt),
  }
}

/** The name that is kept. Throws `invalid` for what a list of tenants has no place for. */
export function checkedName(name: string): string {
  const trimmed = name.trim()
  if (trimmed === '') throw invalid('name: expected at least one visible character')
  if (trimmed.search(LINE_TRICKS) !== -1)
    throw invalid('name: expected one line, without control characters')
  if (trimmed.length > NAME_LIMIT) throw invalid(`name: at most ${NAME_LIMIT} characters`)
  return trimmed
}

function checkedChange({ name, plan, spendCapCents }: TenantChange): Partial<TenantRow> {
  if (spendCapCents != null && !(Number.isSafeInteger(spendCapCents) && spendCapCents >= 0))
    throw invalid('spend cap: expected whole cents, zero or more')
  return {
    ...(name !== undefined && { name: checkedName(name) }),
    ...(plan !== undefined && { plan }),
    ...(spendCapCents !== undefined && { spendCapCents }),
  }
}
