import type { Db } from '../../db/open.ts'
import { createReadCache } from '../../platform/read-cache.ts'
import type { Store } from './store/index.ts'

const REMEMBERED_PEOPLE = 10_000

export type TokenGenerations = ReturnType<typeof createTokenGenerations>

/**
 * Which access tokens of a person still count, remembered: introspection asks for each. To be
 * forgotten in the commit of every change of it, and of every deletion.
 */
export function createTokenGenerations({ db, store }: { db: Db; store: Store }) {
  const known = createReadCache<number>(db, REMEMBERED_PEOPLE)

  /** Undefined when there is no such person. */
  function of(tenantId: string, id: string): number | undefined {
    const name = `${tenantId} ${id}`
    return known.get(name) ?? lookUp(tenantId, id, name)
  }

  function lookUp(tenantId: string, id: string, name: string): number | undefined {
    const person = store.identities.find(tenantId, id)
    return person && known.set(name, person.tokenGeneration)
  }

  return { of, forget: known.forget }
}
