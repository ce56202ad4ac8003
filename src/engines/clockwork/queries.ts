import { HOUR_MS } from '../../platform/durations.ts'
import { END, type Scan } from '../../platform/scan.ts'
import { LISTED_EXECUTIONS } from './limits.ts'
import type { Execution } from './model.ts'
import { presentExecution } from './present.ts'
import type { ExecutionSummary, OpenRun } from './store/attempt-summaries.ts'
import { type HourOutcomes, hourOf } from './store/hours.ts'
import type { Store } from './store/index.ts'
import type {
  CronJobSummary,
  DelayedFilter,
  DelayedJobSummary,
  DelayedPosition,
} from './store/job-summaries.ts'

export type { ComingRun, FailingJob, JobTally, LatestRun } from './store/read-model.ts'
export type {
  CronJobSummary,
  DelayedFilter,
  DelayedJobSummary,
  DelayedPosition,
  ExecutionSummary,
  HourOutcomes,
  OpenRun,
}

export type Queries = ReturnType<typeof createQueries>

const LATEST: DelayedPosition = { runAt: END, seq: END }

/** Queries for pages about jobs. Each has a limit, so its cost does not grow with the data. */
export const createQueries = (store: Store) => {
  const { jobSummaries, attemptSummaries, hours, runs } = store
  return {
    ...store.readModel,

    /** Runs that are due, and how late the oldest is. */
    backlog: (now: number) => ({ readyCount: runs.readyCount(), lagMs: runs.lagMs(now) }),

    /** Newest first. */
    jobs: (tenantId: string, { before = END, limit }: Scan): CronJobSummary[] =>
      jobSummaries.jobs(tenantId, before, limit),

    /** The newest job with exactly this URL. */
    jobAt: jobSummaries.jobAt,

    /** Results of all attempts in the `count` hours up to and including `upTo`'s, oldest first. */
    hours(tenantId: string, { upTo, count }: { upTo: number; count: number }): HourOutcomes[] {
      const first = hourOf(upTo) - (count - 1) * HOUR_MS
      const known = new Map(hours.between(tenantId, first, upTo).map((row) => [row.hour, row]))
      return Array.from({ length: count }, (_, index) => {
        const hour = first + index * HOUR_MS
        return known.get(hour) ?? { hour, succeeded: 0, failed: 0 }
      })
    },

    /** Latest first, searched among the 10,000 jobs after a position. */
    delayed: (
      tenantId: string,
      of: DelayedFilter & { limit: number; before?: DelayedPosition | undefined },
    ) => jobSummaries.delayed(tenantId, of.before ?? LATEST, of, of.limit),

    /** Where a search without further results continues; undefined if it has reached the end. */
    lastSearched: (
      tenantId: string,
      before: DelayedPosition = LATEST,
    ): DelayedPosition | undefined => jobSummaries.lastSearched(tenantId, before),

    /** Delayed jobs in a time range, earliest run first. */
    delayedBetween: (tenantId: string, of: { from: number; to?: number; limit: number }) =>
      jobSummaries.delayedBetween({ tenantId, to: END, ...of }),

    /** The newest attempts of one of the tenant's jobs of either kind, without response bodies. */
    attempts: (tenantId: string, jobId: string, limit = LISTED_EXECUTIONS): ExecutionSummary[] =>
      attemptSummaries.attempts(tenantId, jobId, limit),

    attempt(tenantId: string, jobId: string, id: string): Execution | undefined {
      const row = attemptSummaries.attempt(tenantId, jobId, id)
      return row && presentExecution(row)
    },

    /** Runs with an attempt to come, oldest first. */
    open: (tenantId: string, jobId: string): OpenRun[] => attemptSummaries.open(tenantId, jobId),
  }
}
