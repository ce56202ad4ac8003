import type { DelayedStatus } from './store/delayed-jobs.ts'
import type { Store } from './store/index.ts'

export type CompleteDelayedJob = ReturnType<typeof createCompleteDelayedJob>

/** Keeps the job and its executions for `keptMs`. Returns false if its state is not `from`. */
export const createCompleteDelayedJob =
  ({ store, keptMs }: { store: Store; keptMs: number }) =>
  (
    tenantId: string,
    id: string,
    { from, to, now }: { from: DelayedStatus; to: DelayedStatus; now: number },
  ): boolean => {
    const expiresAt = now + keptMs
    if (!store.delayedJobs.move(tenantId, id, { from, to, now, expiresAt })) return false
    store.executions.expireAll(tenantId, id, expiresAt)
    return true
  }
