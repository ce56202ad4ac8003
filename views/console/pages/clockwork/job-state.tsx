import type { CronJobDetail } from '../../../../src/engines/clockwork/model.ts'
import type { ExecutionSummary, OpenRun } from '../../../../src/engines/clockwork/queries.ts'
import { Time } from '../../time.tsx'

/** A job with its latest runs. */
export interface JobRuns {
  job: CronJobDetail
  /** Description of the schedule. */
  schedule: string
  /** Newest first. */
  attempts: readonly ExecutionSummary[]
  open: readonly OpenRun[]
  now: number
}

/** Runs that have been due for longer are not about to start. */
const SOON_MS = 300_000

/** Whether a run is in progress or about to start. */
export const isInProgress = ({ attempts: [newest], open, now }: JobRuns): boolean =>
  newest?.status === 'running' ||
  open.some(({ state, dueAt }) => state === 'ready' && now - dueAt < SOON_MS)

/** State of a job in a sentence, with its next run. */
export function stateOf(runs: JobRuns) {
  const { job, schedule, attempts, open, now } = runs
  const when = job.is_active ? (
    <>
      Runs {schedule}, next run <Time at={Date.parse(job.next_run_at)} now={now} />.
    </>
  ) : (
    <>Paused. Schedule: {schedule}.</>
  )
  const ended = attempts.find(({ status }) => status !== 'running')
  if (isInProgress(runs))
    return { tone: 'busy', sentence: <>A run is in progress. {when}</> } as const
  if (ended?.status !== 'failed') {
    const tone = job.is_active && ended ? 'good' : 'quiet'
    return { tone, sentence: ended ? when : <>Not run yet. {when}</> } as const
  }
  const retry = open.find(({ slotAt }) => slotAt === ended.slotAt)
  return {
    tone: 'bad',
    sentence: (
      <>
        Last run failed <Time at={ended.startedAt} now={now} />
        {retry && (
          <>
            ; next attempt <Time at={retry.dueAt} now={now} />
          </>
        )}
        . {when}
      </>
    ),
  } as const
}
