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
  DelayedPlace,
} from './store/job-summaries.ts'

export type {
  CronJobSummary as CronJobLook,
  DelayedFilter,
  DelayedJobSummary as DelayedJobLook,
  DelayedPlace,
  ExecutionSummary as ExecutionLook,
  HourOutcomes,
  OpenRun,
}

export type Queries = ReturnType<typeof createQueries>

const LATEST: DelayedPlace = { runAt: END, seq: END }

/** What pages for people show of jobs: as much as a page takes, whatever is stored. */
export const createQueries = (store: Store) => {
  const { jobSummaries, attemptSummaries, hours } = store
  return {
    /** Newest first. */
    jobs: (tenantId: string, { before = END, limit }: Scan): CronJobSummary[] =>
      jobSummaries.jobs(tenantId, before, limit),

    /** How the attempts of all jobs ended in so many hours up to that of a moment, the oldest first. */
    hours(tenantId: string, { upTo, count }: { upTo: number; count: number }): HourOutcomes[] {
      const first = hourOf(upTo) - (count - 1) * HOUR_MS
      const known = new Map(hours.between(tenantId, first, upTo).map((row) => [row.hour, row]))
      return Array.from({ length: count }, (_, index) => {
        const hour = first + index * HOUR_MS
        return known.get(hour) ?? { hour, succeeded: 0, failed: 0 }
      })
    },

    /** The latest first; among the 10,000 behind a place. */
    delayed: (
      tenantId: string,
      of: DelayedFilter & { limit: number; before?: DelayedPlace | undefined },
    ) => jobSummaries.delayed(tenantId, of.before ?? LATEST, of, of.limit),

    /** Where a search has to go on that found nothing more: none where it has seen all. */
    lastSearched: (tenantId: string, before: DelayedPlace = LATEST): DelayedPlace | undefined =>
      jobSummaries.lastSearched(tenantId, before),

    /** Delayed jobs by their time: those that run first come first. */
    delayedBetween: (tenantId: string, of: { from: number; to?: number; limit: number }) =>
      jobSummaries.delayedBetween({ tenantId, to: END, ...of }),

    /** The newest attempts of a job of either kind, without their answers; none of another tenant's. */
    attempts: (tenantId: string, jobId: string, limit = LISTED_EXECUTIONS): ExecutionSummary[] =>
      attemptSummaries.attempts(tenantId, jobId, limit),

    attempt(tenantId: string, jobId: string, id: string): Execution | undefined {
      const row = attemptSummaries.attempt(tenantId, jobId, id)
      return row && presentExecution(row)
    },

    /** What is still to be tried, the oldest run first. */
    open: (tenantId: string, jobId: string): OpenRun[] => attemptSummaries.open(tenantId, jobId),
  }
}
