import { TimeAxis } from '../../../../views/console/charts/time-axis.tsx'
import { LinkButton } from '../../../../views/console/form/button.tsx'
import { PAGES } from '../../../../views/console/layout/navigation.ts'
import { shorten } from '../../../../views/console/text.tsx'
import { url } from '../../../../views/console/url.ts'
import { capitalized } from '../../../../views/console/words.ts'
import type { ComingRun } from '../../../engines/clockwork/store/read-model.ts'
import { MINUTE_MS } from '../../../platform/durations.ts'

/** The next run of a job, its schedule in words, and when it runs again after that. */
export type UpcomingRun = Omit<ComingRun, 'schedule'> & { words: string; again: readonly number[] }

const MAX_NAME_LENGTH = 48
/** Lengths of the axis. The shortest one that covers all runs is used, or the longest. */
const SPANS = [10, 30, 60, 120, 360, 720, 1440].map((minutes) => minutes * MINUTE_MS)
const MAX_SPAN_MS = 1440 * MINUTE_MS

/** Upcoming runs on a time axis. */
export const UpcomingRuns = ({
  base,
  upcoming,
  now,
}: {
  base: string
  upcoming: readonly UpcomingRun[]
  now: number
}) => {
  const last = upcoming.at(-1)
  if (!last)
    return (
      <>
        <p class="hint">No upcoming runs</p>
        <div class="actions">
          <LinkButton href={url(base, PAGES.jobs.path)} isSmall>
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
        href: url(base, `/console/${kind === 'cron' ? 'jobs' : 'delayed'}/${id}`),
        note: capitalized(words),
      }))}
    />
  )
}
