import type { Order } from '../../db/keyset.ts'
import { rowsBetween } from '../../db/seq-from.ts'
import { createCursor, type Page, page, sortedPage } from '../../platform/cursor.ts'
import { HOUR_MS } from '../../platform/durations.ts'
import { restOf } from '../../platform/scan.ts'
import { LISTED_EXECUTIONS } from './limits.ts'
import type { Execution } from './model.ts'
import { presentExecution } from './present.ts'
import type {
  AttemptCounts,
  ExecutionSummary,
  OpenRun,
  PastAttempt,
} from './store/attempt-summaries.ts'
import {
  type CronJobSummary,
  JOB_ORDERS,
  type JobCounts,
  type JobFilter,
  type JobSort,
} from './store/cron-job-lists.ts'
import {
  DELAYED_ORDERS,
  type DelayedCounts,
  type DelayedFilter,
  type DelayedJobSummary,
  type DelayedSort,
} from './store/delayed-job-lists.ts'
import type { DelayedStatus } from './store/delayed-jobs.ts'
import { type HourOutcomes, hourOf } from './store/hours.ts'
import type { Store } from './store/index.ts'

export { MAX_COUNTED } from './store/attempt-summaries.ts'
export type { ComingRun, FailingJob, LatestRun } from './store/read-model.ts'
export type {
  AttemptCounts,
  CronJobSummary,
  DelayedCounts,
  DelayedJobSummary,
  ExecutionSummary,
  HourOutcomes,
  JobCounts,
  OpenRun,
  PastAttempt,
}

export type Queries = ReturnType<typeof createQueries>

/** A page of a list, which has an order of its own unless given. */
type PageQuery<By extends string> = Partial<Order<By>> & {
  cursor?: string | undefined
  limit: number
}

/** A range of times. */
interface Times {
  since?: number | undefined
  until?: number | undefined
}

interface HistoryQuery extends Times {
  status?: Execution['status'] | undefined
  isAscending?: boolean
  cursor?: string | undefined
  limit: number
}

/** Queries for pages about jobs. Each has a limit, so its cost does not grow with the data. */
export const createQueries = (store: Store) => {
  const { cronJobLists, delayedJobLists, attemptSummaries, hours, runs } = store
  return {
    ...store.readModel,

    /** Runs that are due, and how late the oldest is. */
    backlog: (now: number) => ({ readyCount: runs.readyCount(), lagMs: runs.lagMs(now) }),

    /** Newest first. */
    jobs(tenantId: string, of: JobFilter & PageQuery<JobSort>): Page<CronJobSummary> {
      const query = { by: 'created', isDescending: true, ...of } as const
      return sortedPage({ list: `jobs of ${tenantId}`, ...JOB_ORDERS }, query, (range) =>
        cronJobLists.list(tenantId, { ...query, ...range }),
      )
    },

    /** The jobs that a search and a tag find, by state. */
    jobCounts: (tenantId: string, of?: JobFilter): JobCounts => cronJobLists.count(tenantId, of),

    /** Tags of jobs, by name. */
    jobTags: cronJobLists.tags,

    /** The newest job with exactly this URL. */
    jobAt: cronJobLists.newestAt,

    /** Results of all attempts in the `count` hours up to and including `upTo`'s, oldest first. */
    hours(tenantId: string, { upTo, count }: { upTo: number; count: number }): HourOutcomes[] {
      const first = hourOf(upTo) - (count - 1) * HOUR_MS
      const known = new Map(hours.between(tenantId, first, upTo).map((row) => [row.hour, row]))
      return Array.from({ length: count }, (_, index) => {
        const hour = first + index * HOUR_MS
        return known.get(hour) ?? { hour, succeeded: 0, failed: 0 }
      })
    },

    /** Latest run first. */
    delayed(
      tenantId: string,
      of: DelayedFilter & { status?: DelayedStatus | undefined } & PageQuery<DelayedSort>,
    ): Page<DelayedJobSummary> {
      const query = { by: 'run_at', isDescending: true, ...of } as const
      const list = `delayed jobs of ${tenantId}`
      return sortedPage({ list, ...DELAYED_ORDERS }, query, (range) =>
        delayedJobLists.list(tenantId, { ...query, ...range }),
      )
    },

    /** The delayed jobs that a filter finds, by status. */
    delayedCounts: (tenantId: string, filter: DelayedFilter): DelayedCounts =>
      delayedJobLists.count(tenantId, filter),

    /** Tags of the newest delayed jobs, by name. */
    delayedTags: delayedJobLists.tags,

    /** The newest attempts of one of the tenant's jobs of either kind, without response bodies. */
    attempts: (tenantId: string, jobId: string, limit = LISTED_EXECUTIONS): ExecutionSummary[] =>
      attemptSummaries.attempts(tenantId, jobId, limit),

    /** All kept attempts of a job, newest first unless `isAscending`. */
    history(tenantId: string, jobId: string, query: HistoryQuery): Page<PastAttempt> {
      const { limit, cursor, status, isAscending } = query
      const cursors = createCursor(`attempts of ${jobId}`)
      const range = {
        ...rowsBetween(attemptSummaries.seqFrom, query),
        isAscending,
        limit: limit + 1,
      }
      const window = restOf(range, cursors.positionOf(cursor))
      const rows = attemptSummaries.history(tenantId, jobId, { ...window, status })
      return page(rows, limit, ({ seq }) => cursors.encode(seq))
    },

    /** The kept attempts of a job by status, counted up to `MAX_COUNTED`. */
    historyCounts: (tenantId: string, jobId: string, times: Times): AttemptCounts =>
      attemptSummaries.count(tenantId, jobId, rowsBetween(attemptSummaries.seqFrom, times)),

    attempt(tenantId: string, jobId: string, id: string): Execution | undefined {
      const row = attemptSummaries.attempt(tenantId, jobId, id)
      return row && presentExecution(row)
    },

    /** Runs with an attempt to come, oldest first. */
    open: (tenantId: string, jobId: string): OpenRun[] => attemptSummaries.open(tenantId, jobId),
  }
}
