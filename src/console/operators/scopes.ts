import type { Db } from '../../db/open.ts'
import { forbidden } from '../../platform/errors.ts'
import type { Operator } from './current-operator.ts'
import type { OperatorStore } from './store/index.ts'

/** Switches the tenant of a session. */
export function createOperatorScopes({ db, store }: { db: Db; store: OperatorStore }) {
  /** Selects a tenant, or the installation with null. Throws `forbidden` without access to it. */
  const choose = ({ id, sessionId }: Operator, tenantId: string | null): Promise<void> =>
    db.commit(() => {
      const isTheirs = tenantId === null ? store.isAdmin(id) : store.roleIn(tenantId, id)
      if (!isTheirs) throw forbidden("you don't have access to this tenant")
      store.putScope({ sessionId, tenantId })
    })

  return { choose }
}
