import type { Db } from '../../../db/open.ts'
import { createReadCache } from '../../../platform/read-cache.ts'
import type { Store } from '../store.ts'

const REMEMBERED_PEOPLE = 10_000

export type TokenGenerations = ReturnType<typeof createTokenGenerations>

/** Caches what each introspection needs. Invalidate it in the commit of a change or deletion. */
export function createTokenGenerations({ db, store }: { db: Db; store: Store }) {
  const known = createReadCache<number>(db, REMEMBERED_PEOPLE)

  /** Undefined if there is no such identity. */
  function of(tenantId: string, id: string): number | undefined {
    const name = `${tenantId} ${id}`
    return known.get(name) ?? readGeneration(tenantId, id, name)
  }

  function readGeneration(tenantId: string, id: string, name: string): number | undefined {
    const person = store.identities.find(tenantId, id)
    return person && known.set(name, person.tokenGeneration)
  }

  return { of, forget: known.forget }
}
