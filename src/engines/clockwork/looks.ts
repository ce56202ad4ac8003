import { END, type Scan } from '../../platform/scan.ts'
import { LISTED_EXECUTIONS } from './limits.ts'
import type { Execution } from './model.ts'
import { presentExecution } from './present.ts'
import type { Store } from './store/index.ts'
import type {
  CronJobLook,
  DelayedJobLook,
  DelayedPlace,
  ExecutionLook,
  OpenRun,
} from './store/looks.ts'

export type { CronJobLook, DelayedJobLook, DelayedPlace, ExecutionLook, OpenRun }

export type Looks = ReturnType<typeof createLooks>

/** What pages for people show of jobs: as much as a page takes, whatever is stored. */
export const createLooks = ({ looks }: Store) => ({
  /** Newest first; `since` is from when on a failure counts as a recent one. */
  jobs: (tenantId: string, { before = END, limit, since }: Scan & { since: number }) =>
    looks.jobs({ tenantId, before, since, limit }),

  /** The latest first. */
  delayed: (tenantId: string, limit: number, before: DelayedPlace = { runAt: END, seq: END }) =>
    looks.delayed(tenantId, before, limit),

  /** The newest attempts of a job of either kind, without their answers; none of another tenant's. */
  attempts: (tenantId: string, jobId: string, limit = LISTED_EXECUTIONS): ExecutionLook[] =>
    looks.attempts(tenantId, jobId, limit),

  attempt(tenantId: string, jobId: string, id: string): Execution | undefined {
    const row = looks.attempt(tenantId, jobId, id)
    return row && presentExecution(row)
  },

  /** What is still to be tried, the oldest run first. */
  open: (tenantId: string, jobId: string): OpenRun[] => looks.open(tenantId, jobId),
})
