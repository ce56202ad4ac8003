import { getTableName } from 'drizzle-orm'
import { asStorageError } from '../../db/errors.ts'
import type { Db } from '../../db/open.ts'
import type { Actor, Audit } from '../audit/index.ts'
import { conflict, notFound } from '../errors.ts'
import { SLICE } from '../retention.ts'
import { createImportStore } from './imports-store.ts'
import { createRemainsStore, type Owned } from './remains-store.ts'
import { TENANT, tenantColumn } from './rows.ts'
import type { Portable, PortableTable } from './table.ts'

interface AbandonParts {
  db: Db
  audit: Audit
  actor: Actor
  /** That of tenants first. */
  portable: readonly Portable[]
  tenantId: string
}

/**
 * Takes away a tenant whose import was cut short, a slice a commit, with whatever has come of it
 * meanwhile, and says how many rows of each kind there were. From the first commit on its file
 * cannot complete it any more; cut short, this is completed by another call. Throws `notFound` and
 * `conflict` where nothing is unfinished.
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
  const [tenant, ...tables] = portable.flatMap(({ tables }) => tables)
  if (!tenant) throw new Error('a list without tenants')
  const itself = ownedOf(tenant)

  function begin() {
    const known = store.find(tenantId)
    if (!known) throw notFound('this tenant has no import')
    if (known.endedAt !== null) throw conflict('the import of this tenant is already complete')
    store.giveUp(tenantId)
  }

  async function empty(owned: Owned) {
    const remove = remains.remover(owned)
    while ((await db.commit(() => remove(tenantId, SLICE))) === SLICE);
  }

  /** What has come since its table was emptied goes with the tenant. */
  function end(counts: Record<string, number>) {
    begin()
    remains.remover(itself)(tenantId, 1)
    store.remove(tenantId)
    const action = 'tenant.import_abandoned'
    audit.record({ tenantId, actor, action, object: `tenant:${tenantId}`, detail: { counts } })
  }

  await db.commit(begin)
  const counts = Object.fromEntries(
    [tenant, ...tables].map((one) => [one.kind, remains.count(ownedOf(one), tenantId)]),
  )
  // The reverse of how they came: doors and jobs go first. Rows that are found through others go
  // with those.
  for (const one of tables.toReversed()) if (!one.through) await empty(ownedOf(one))
  for (const name of portable.flatMap(({ leftOut }) => Object.keys(leftOut)))
    if (remains.isOfTenants(name)) await empty({ name, column: TENANT })
  await db.commit(() => end(counts))
  return counts
}

const ownedOf = ({ table }: PortableTable): Owned => ({
  name: getTableName(table),
  column: tenantColumn(table).name,
})
