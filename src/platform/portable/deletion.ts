import type { Db } from '../../db/open.ts'
import type { Actor, Audit } from '../audit/index.ts'
import type { Clock } from '../clock.ts'
import { fail, invalid, notFound } from '../errors.ts'
import { type RetentionRule, SLICE } from '../retention.ts'
import { createTenantStore } from '../tenants-store.ts'
import { createImportStore } from './imports-store.ts'
import { createRemainsStore } from './remains-store.ts'
import type { Portable } from './table.ts'

export type TenantDeletion = ReturnType<typeof createTenantDeletion>

/** Slices that `begin` deletes itself: a usual tenant is gone when it returns. */
const FIRST_SLICES = 20

/**
 * Deletes tenants with all their data, in slices of one commit each. Only the audit log remains, until
 * retention deletes it. `portable` must begin with the table of tenants.
 */
export function createTenantDeletion(parts: {
  db: Db
  clock: Clock
  audit: Audit
  portable: readonly Portable[]
}) {
  const { db, clock, audit, portable } = parts
  const tenants = createTenantStore(db)
  const imports = createImportStore(db)
  const remains = createRemainsStore(db)
  const { itself, others } = remains.tablesOf(portable)
  const removers = others.map(remains.remover)
  const removeItself = remains.remover(itself)

  /**
   * Ends a tenant: its keys, sessions and members are refused from now on, and its jobs, bots and
   * endpoints, which are deleted first, stop. `name` confirms which tenant is meant. Returns whether
   * all data is deleted already. Throws `invalid` for another name, and `not_found` without such a tenant.
   */
  async function begin(actor: Actor, id: string, name: string): Promise<boolean> {
    await db.commit(() => {
      const tenant = tenants.find(id) ?? fail(notFound('tenant not found'))
      if (name.trim() !== tenant.name.trim())
        throw invalid('must be the name of the tenant', { field: 'name', rule: 'mismatch' })
      imports.refuseUnfinished(id)
      tenants.startDeletion(id, clock.now())
      const detail = { name: tenant.name, plan: tenant.plan }
      audit.record({
        tenantId: null,
        actor,
        action: 'tenant.deleted',
        object: `tenant:${id}`,
        detail,
      })
      removeSlice(id, SLICE)
    })
    for (let n = 0; n < FIRST_SLICES && isLeft(id); n++)
      await db.commit(() => removeSlice(id, SLICE))
    return !isLeft(id)
  }

  /** Completes all deletions that were begun, also those that were interrupted. */
  async function finish(): Promise<void> {
    while (tenants.deleting() !== undefined) await db.commit(() => rule.deleteSlice(0, SLICE))
  }

  const isLeft = (id: string): boolean => imports.hasTenant(id)

  /** Deletes up to `limit` rows inside a commit, and the tenant after its last row. */
  function removeSlice(id: string, limit: number): number {
    // Caches of this process may hold keys, endpoints and bots of the tenant.
    db.dropCaches()
    let left = limit
    for (const remove of removers) {
      left -= remove(id, left)
      if (left <= 0) return limit
    }
    imports.remove(id)
    return limit - left + removeItself(id, 1)
  }

  const rule: RetentionRule = {
    name: 'deleted tenants',
    deleteSlice(_, limit) {
      const id = tenants.deleting()
      return id === undefined ? 0 : removeSlice(id, limit)
    },
  }

  return { begin, finish, rule }
}
