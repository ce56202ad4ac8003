import { asStorageError } from '../../db/errors.ts'
import type { Db } from '../../db/open.ts'
import type { Actor, Audit } from '../audit/index.ts'
import { conflict, notFound } from '../errors.ts'
import { SLICE } from '../retention.ts'
import { createImportStore } from './imports-store.ts'
import { createRemainsStore, type Owned, ownedOf } from './remains-store.ts'
import type { Portable } from './table.ts'

interface AbandonParts {
  db: Db
  audit: Audit
  actor: Actor
  /** Must begin with the table of tenants. */
  portable: readonly Portable[]
  tenantId: string
}

/**
 * Removes a tenant whose import was interrupted, including data added since, in slices of one
 * commit each. Returns the number of rows of each kind. After the first commit, the file can no
 * longer complete the import; if this is interrupted, another call completes it. Throws `notFound`
 * if the tenant has no import, and `conflict` if the import is complete.
 */
export async function abandonImport(parts: AbandonParts): Promise<Record<string, number>> {
  try {
    return await abandoned(parts)
  } catch (error) {
    throw asStorageError(error)
  }
}

async function abandoned({ db, audit, actor, portable, tenantId }: AbandonParts) {
  const store = createImportStore(db)
  const remains = createRemainsStore(db)
  const { itself, others } = remains.tablesOf(portable)

  function begin() {
    const known = store.find(tenantId)
    if (!known) throw notFound('this tenant was not imported')
    if (known.endedAt !== null) throw conflict('the import of this tenant is already complete')
    store.giveUp(tenantId)
  }

  async function empty(owned: Owned) {
    const remove = remains.remover(owned)
    while ((await db.commit(() => remove(tenantId, SLICE))) === SLICE);
  }

  /** Deletes the tenant; rows added after their table was emptied are deleted with it. */
  function end(counts: Record<string, number>) {
    begin()
    remains.remover(itself)(tenantId, 1)
    store.remove(tenantId)
    const action = 'tenant.import_abandoned'
    audit.record({ tenantId, actor, action, object: `tenant:${tenantId}`, detail: { counts } })
  }

  await db.commit(begin)
  const counts = Object.fromEntries(
    portable
      .flatMap(({ tables }) => tables)
      .map((one) => [one.kind, remains.count(ownedOf(one), tenantId)]),
  )
  for (const owned of others) await empty(owned)
  await db.commit(() => end(counts))
  return counts
}
