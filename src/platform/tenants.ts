import { beginningWith, folded, type Order } from '../db/keyset.ts'
import type { Db } from '../db/open.ts'
import type { Actor, Audit } from './audit/index.ts'
import { type Clock, isoTime } from './clock.ts'
import { type Page, page as pageOf, sortedPage } from './cursor.ts'
import { fail, invalid, notFound } from './errors.ts'
import { newId } from './ids.ts'
import { createImportStore } from './portable/imports-store.ts'
import { SYSTEM_TENANT_ID } from './system-tenant.ts'
import { createTenantStore, SORT_KEYS, type TenantRow, type TenantStatus } from './tenants-store.ts'
import { checkedTimeZone, UTC } from './time-zone.ts'
import { UNSAFE_IN_LINE, UNSAFE_IN_NAME } from './unsafe-characters.ts'

export type { TenantRow, TenantStatus } from './tenants-store.ts'

export const PLANS = ['free', 'metered', 'unlimited'] as const
export type Plan = (typeof PLANS)[number]

/** Why a tenant is suspended: `billing` for an unpaid bill, `renewal` for an unpaid renewal. */
export const SUSPEND_REASONS = ['billing', 'renewal'] as const
export type SuspendReason = (typeof SUSPEND_REASONS)[number]

/** A tenant in the form that the command line and the console show. */
export interface Tenant {
  id: string
  name: string
  plan: Plan
  status: TenantStatus
  spend_cap_cents: number | null
  /** IANA zone of the times in the console. */
  time_zone: string
  created_at: string
  updated_at: string
}

export interface NewTenant {
  name: string
  plan: Plan
  id?: string
  spendCapCents?: number
  timeZone?: string
}

export interface TenantChange {
  name?: string
  plan?: Plan
  /** Null removes the cap, so that the default one applies. */
  spendCapCents?: number | null
  timeZone?: string
}

interface TenantQuery extends Partial<Order<keyof typeof SORT_KEYS>> {
  status?: TenantStatus | undefined
  search?: string | undefined
  cursor?: string | undefined
  limit: number
}

/** Tenants are counted up to this number, because reading a longer list is slow. */
export const MAX_TENANTS_COUNTED = 10_000

const NAME_LIMIT = 200
const IS_ID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

export type Tenants = ReturnType<typeof createTenants>

/** Records each change in the audit log. Doesn't include the system tenant. */
export function createTenants(parts: {
  db: Db
  clock: Clock
  audit: Audit
  /** Called inside the commit of each change, so that cached data of the tenant is dropped. */
  onChange: () => void
}) {
  const { db, clock, audit, onChange } = parts
  const store = createTenantStore(db)
  const imports = createImportStore(db)

  /** `id` is for a caller that needs it before the commit. */
  const create = async (actor: Actor, input: NewTenant): Promise<Tenant> =>
    db.commit(() => add(actor, input))

  /** Creates a tenant inside a commit. Throws `invalid` for a value that is not allowed. */
  function add(actor: Actor, { id = newId(), ...input }: NewTenant): Tenant {
    const terms = { ...checkedChange(input), name: checkedName(input.name), plan: input.plan }
    const row = store.insert({ ...terms, id, now: clock.now() })
    record(actor, 'tenant.created', row, terms)
    return present(row)
  }

  const list = (): Tenant[] => store.all().map(present)

  /**
   * Tenants in an order, the newest first by default. A search finds the beginning of names, in their
   * order, or a full ID.
   */
  function page({ search, status, cursor, limit, ...order }: TenantQuery): Page<Tenant> {
    if (search !== undefined && IS_ID.test(search)) {
      const row = store.find(search.toLowerCase())
      const isFound = row && (status === undefined || row.status === status)
      return pageOf(isFound ? [present(row)] : [], 1, () => '')
    }
    const { by = 'created', isDescending = true } = search === undefined ? order : BY_NAME
    const range = search === undefined ? {} : beginningWith(folded(search))
    const query = { by, isDescending, cursor, limit }
    const found = sortedPage(LIST, query, (rest) =>
      store.sorted({ ...query, status, ...range, ...rest }),
    )
    return { ...found, data: found.data.map(present) }
  }

  /** The number of tenants per status, among the first 10,000. */
  const counts = (): Record<TenantStatus, number> => ({
    active: 0,
    suspended: 0,
    renewal_unpaid: 0,
    ...Object.fromEntries(
      store.counts(MAX_TENANTS_COUNTED).map(({ status, count }) => [status, count]),
    ),
  })

  const find = (id: string): Tenant => present(existing(id))

  const exists = (id: string): boolean => store.find(id) !== undefined

  /** The name that sign-in pages show, also for the system tenant. */
  const nameOf = (id: string): string => store.nameOf(id) ?? fail(notFound('tenant not found'))

  /** The zone of times in the console; UTC for an unknown tenant. */
  const timeZoneOf = (id: string): string => store.timeZoneOf(id) ?? UTC

  /** The name that operators see when they sign in. */
  const installationName = (): string => nameOf(SYSTEM_TENANT_ID)

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
      const before = existing(id)
      if (isSame(before, changes)) return present(before)
      const row = store.save({ ...before, ...changes, updatedAt: clock.now() })
      record(actor, action, row, changes)
      onChange()
      return present(row)
    })
  }

  const existing = (id: string): TenantRow => store.find(id) ?? fail(notFound('tenant not found'))

  const record = (actor: Actor, action: string, row: TenantRow, detail: Record<string, unknown>) =>
    audit.record({ tenantId: row.id, actor, action, object: `tenant:${row.id}`, detail })

  return {
    create,
    add,
    list,
    page,
    counts,
    find,
    exists,
    nameOf,
    timeZoneOf,
    installationName,
    change,
    suspend,
    resume,
  }
}

const isSame = (row: TenantRow, changes: Partial<TenantRow>): boolean =>
  Object.entries(changes).every(([name, value]) => row[name as keyof TenantRow] === value)

const LIST = {
  list: 'tenants',
  keys: SORT_KEYS,
  keyOf: { created: ({ id }: TenantRow) => id, name: ({ name }: TenantRow) => folded(name) },
  byId: true,
} as const

const BY_NAME = { by: 'name', isDescending: false } as const

function present({ spendCapCents, timeZone, createdAt, updatedAt, ...row }: TenantRow): Tenant {
  const { id, name, plan, status } = row
  return {
    id,
    name,
    plan,
    status,
    spend_cap_cents: spendCapCents,
    time_zone: timeZone,
    created_at: isoTime(createdAt),
    updated_at: isoTime(updatedAt),
  }
}

/** Trims and validates a name. Throws `invalid` if it is not allowed. */
export function checkedName(name: string): string {
  const trimmed = name.trim()
  if (trimmed.replaceAll(UNSAFE_IN_NAME, '').trim() === '')
    throw invalid('must have at least one visible character', { field: 'name', rule: 'required' })
  if (trimmed.search(UNSAFE_IN_LINE) !== -1)
    throw invalid('must be one line without control characters', {
      field: 'name',
      rule: 'characters',
    })
  if (trimmed.length > NAME_LIMIT)
    throw invalid(`must have at most ${NAME_LIMIT} characters`, { field: 'name', rule: 'too_long' })
  return trimmed
}

function checkedChange({ name, plan, spendCapCents, timeZone }: TenantChange): Partial<TenantRow> {
  if (spendCapCents != null && !(Number.isSafeInteger(spendCapCents) && spendCapCents >= 0))
    throw invalid('must be a whole number of cents, at least 0', {
      field: 'spend_cap_cents',
      rule: 'range',
    })
  return {
    ...(name !== undefined && { name: checkedName(name) }),
    ...(plan !== undefined && { plan }),
    ...(spendCapCents !== undefined && { spendCapCents }),
    ...(timeZone !== undefined && { timeZone: checkedTimeZone(timeZone) }),
  }
}
