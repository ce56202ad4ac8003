import { Time } from '../../time.tsx'
import type { JobPageProps } from './job.tsx'

/** Runs that have been due for longer are not about to start. */
const SOON_MS = 300_000

type Standing = Pick<JobPageProps, 'job' | 'schedule' | 'attempts' | 'open' | 'now'>

/** Whether a run is in progress or about to start. */
export const isUnderWay = ({ attempts: [newest], open, now }: Standing): boolean =>
  newest?.status === 'running' ||
  open.some(({ state, dueAt }) => state === 'ready' && now - dueAt < SOON_MS)

/** State of a job in a sentence, with its next run. */
export function stateOf(standing: Standing) {
  const { job, schedule, attempts, open, now } = standing
  const when = job.is_active ? (
    <>
      Runs {schedule}, next run <Time at={Date.parse(job.next_run_at)} now={now} />.
    </>
  ) : (
    <>Paused. Schedule: {schedule}.</>
  )
  const ended = attempts.find(({ status }) => status !== 'running')
  if (isUnderWay(standing))
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
