import { conflict } from '../../platform/errors.ts'
import { RUNS_ALLOWED, RUNS_IN_FLIGHT } from './limits.ts'
import type { CronJobRow } from './store/cron-jobs.ts'
import type { Store } from './store/index.ts'

type Job = Pick<CronJobRow, 'tenantId' | 'id' | 'overlap'>

/**
 * How a new run of a cron job begins: `ready`, or `queued` until the one in progress has ended, with
 * its retries. Undefined if the job has too many runs.
 */
export function placeFor({ runs }: Store, job: Job): 'ready' | 'queued' | undefined {
  const { open, queued, inFlight } = runs.counts(job.tenantId, job.id)
  if (job.overlap === 'queue') return open === 0 ? 'ready' : queued === 0 ? 'queued' : undefined
  return inFlight < limitOf(job) ? 'ready' : undefined
}

const limitOf = ({ overlap }: Pick<Job, 'overlap'>): number =>
  overlap === 'allow' ? RUNS_ALLOWED : RUNS_IN_FLIGHT

export const tooManyRuns = (job: Pick<Job, 'overlap'>) =>
  conflict(
    job.overlap === 'queue'
      ? 'a run of this job is already queued; try again when it has started'
      : `${limitOf(job)} runs of this job are in progress; try again when one has ended`,
  )
