import type { Db } from '../../db/open.ts'
import type { Clock } from '../../platform/clock.ts'
import { GOALS, type Goal } from './goals.ts'
import { createChecklistStore } from './store.ts'

/** The choices behind a tenant's checklist. What is done is not stored: the tenant's data shows it. */
export interface Checklist {
  goals: readonly Goal[]
  isDismissed: boolean
}

export type Checklists = ReturnType<typeof createChecklists>

/** The goals that each tenant chose, and whether it still wants its checklist. */
export function createChecklists({ db, clock }: { db: Db; clock: Clock }) {
  const store = createChecklistStore(db)

  /** Undefined until a choice was made. */
  function of(tenantId: string): Checklist | undefined {
    const row = store.find(tenantId)
    return row && { goals: goalsIn(row.goals), isDismissed: row.dismissedAt !== null }
  }

  /** Stores the goals and shows the checklist. */
  const choose = (tenantId: string, goals: readonly Goal[]): Promise<void> =>
    db.commitFor(tenantId, () =>
      store.put({ tenantId, goals: JSON.stringify(goals), dismissedAt: null }),
    )

  const setDismissed = (tenantId: string, isDismissed: boolean): Promise<void> =>
    db.commitFor(tenantId, () =>
      store.put({
        tenantId,
        goals: store.find(tenantId)?.goals ?? '[]',
        dismissedAt: isDismissed ? clock.now() : null,
      }),
    )

  return { of, choose, setDismissed }
}

function goalsIn(text: string): Goal[] {
  const stored: string[] = JSON.parse(text)
  return GOALS.filter((goal) => stored.includes(goal))
}
