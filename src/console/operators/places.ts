import type { Db } from '../../db/open.ts'
import { forbidden } from '../../platform/errors.ts'
import type { OperatorStore } from './store/index.ts'
import type { Visitor } from './visitors.ts'

export type Places = ReturnType<typeof createPlaces>

/** The switcher: a session acts in one place at a time. */
export function createPlaces({ db, store }: { db: Db; store: OperatorStore }) {
  /** Null for the installation. Throws `forbidden` for a place that is not theirs. */
  const choose = ({ id, sessionId }: Visitor, tenantId: string | null): Promise<void> =>
    db.commit(() => {
      const isTheirs = tenantId === null ? store.isAdmin(id) : store.roleIn(tenantId, id)
      if (!isTheirs) throw forbidden('you are not a member of that tenant')
      store.putPlace({ sessionId, tenantId })
    })

  return { choose }
}
