import type { Db } from '../../db/open.ts'
import { forbidden } from '../../platform/errors.ts'
import type { OperatorStore } from './store/index.ts'
import type { Visitor } from './visitors.ts'

export type Places = ReturnType<typeof createPlaces>

/** Switches the tenant of a session. */
export function createPlaces({ db, store }: { db: Db; store: OperatorStore }) {
  /** Selects a tenant, or the installation with null. Throws `forbidden` without access to it. */
  const choose = ({ id, sessionId }: Visitor, tenantId: string | null): Promise<void> =>
    db.commit(() => {
      const isTheirs = tenantId === null ? store.isAdmin(id) : store.roleIn(tenantId, id)
      if (!isTheirs) throw forbidden("you don't have access to this tenant")
      store.putPlace({ sessionId, tenantId })
    })

  return { choose }
}
