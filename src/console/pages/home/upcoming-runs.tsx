import { PAGES } from '../../../../views/layout/navigation.ts'
import { TimeAxis } from '../../../../views/ui/charts/time-axis.tsx'
import { LinkButton } from '../../../../views/ui/form/button.tsx'
import { shorten } from '../../../../views/ui/text.tsx'
import { capitalized } from '../../../../views/ui/words.ts'
import type { Clockwork } from '../../../engines/clockwork/index.ts'
import type { ComingRun } from '../../../engines/clockwork/queries.ts'
import { describeSchedule, scheduleOf } from '../../../engines/clockwork/schedule/index.ts'
import { MINUTE_MS } from '../../../platform/durations.ts'
import { usePage } from '../../page.tsx'

/** The next run of a job, its schedule in words, and when it runs again after that. */
export type UpcomingRun = Omit<ComingRun, 'schedule' | 'timeZone'> & {
  words: string
  again: readonly number[]
}

const SHOWN = 8
/** Further runs of each job, for the time axis. */
const AHEAD = 24
const MAX_NAME_LENGTH = 48
/** Lengths of the axis. The shortest one that covers all runs is used, or the longest. */
const SPANS = [10, 30, 60, 120, 360, 720, 1440].map((minutes) => minutes * MINUTE_MS)
const MAX_SPAN_MS = 1440 * MINUTE_MS

/** The jobs of a tenant that run next, each listed once. */
export const upcomingRuns = (
  { queries }: Pick<Clockwork, 'queries'>,
  tenantId: string,
  now: number,
): UpcomingRun[] =>
  queries
    .coming(tenantId, now, SHOWN)
    .toSorted((one, other) => one.at - other.at)
    .slice(0, SHOWN)
    .map(withNextRuns)

const withNextRuns = ({ schedule, timeZone, ...run }: ComingRun): UpcomingRun =>
  schedule === null || timeZone === null
    ? { ...run, words: 'Once', again: [] }
    : {
        ...run,
        words: describeSchedule(schedule, timeZone),
        again: scheduleOf(schedule, timeZone).nextMany(run.at, AHEAD),
      }

/** Upcoming runs on a time axis. */
export function UpcomingRuns({ upcoming }: { upcoming: readonly UpcomingRun[] }) {
  const { href, now } = usePage()
  const last = upcoming.at(-1)
  if (!last)
    return (
      <>
        <p class="hint">No upcoming runs</p>
        <div class="actions">
          <LinkButton href={href(PAGES.jobs.path)} isSmall>
            View jobs
          </LinkButton>
        </div>
      </>
    )
  const until = now + (SPANS.find((one) => last.at - now <= one) ?? MAX_SPAN_MS)
  return (
    <TimeAxis
      label="Upcoming runs"
      now={now}
      until={until}
      upcoming={upcoming.map(({ kind, id, name, at, words, again }) => ({
        at,
        again,
        isEndless: (again.at(-1) ?? until) < until,
        name: shorten(name, MAX_NAME_LENGTH),
        href: href(`/${kind === 'cron' ? 'jobs' : 'delayed'}/${id}`),
        note: capitalized(words),
      }))}
    />
  )
}
