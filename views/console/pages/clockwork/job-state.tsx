import { Time } from '../../time.tsx'
import type { JobPageProps } from './job.tsx'

/** What has stood in line for longer waits for something else than its turn. */
const SOON_MS = 300_000

type Standing = Pick<JobPageProps, 'job' | 'schedule' | 'attempts' | 'open' | 'now'>

/** There will be news of it within moments: it runs, or stands in line to. */
export const isUnderWay = ({ attempts: [newest], open, now }: Standing): boolean =>
  newest?.status === 'running' ||
  open.some(({ state, dueAt }) => state === 'ready' && now - dueAt < SOON_MS)

/** The answer to whether it works, and what happens next. */
export function stateOf(standing: Standing) {
  const { job, schedule, attempts, open, now } = standing
  const when = job.is_active ? (
    <>
      Runs {schedule}, next <Time at={Date.parse(job.next_run_at)} now={now} />.
    </>
  ) : (
    <>Paused; would run {schedule}.</>
  )
  const ended = attempts.find(({ status }) => status !== 'running')
  if (isUnderWay(standing))
    return { tone: 'busy', sentence: <>A run is under way. {when}</> } as const
  if (ended?.status !== 'failed') {
    const tone = job.is_active && ended ? 'good' : 'quiet'
    return { tone, sentence: ended ? when : <>It has not run yet. {when}</> } as const
  }
  const retry = open.find(({ slotAt }) => slotAt === ended.slotAt)
  return {
    tone: 'bad',
    sentence: (
      <>
        Its last run failed <Time at={ended.startedAt} now={now} />
        {retry && (
          <>
            {' '}
            and is tried again <Time at={retry.dueAt} now={now} />
          </>
        )}
        . {when}
      </>
    ),
  } as const
}
