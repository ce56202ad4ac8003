import type { Clockwork } from '../../../engines/clockwork/index.ts'
import { describeSchedule, scheduleOf } from '../../../engines/clockwork/schedule/index.ts'
import type { ComingRun } from '../../../engines/clockwork/store/read-model.ts'
import type { UpcomingRun } from './upcoming-runs-view.tsx'

const SHOWN = 8
/** Further runs of each job, for the time axis. */
const AHEAD = 24

/** The jobs of a tenant that run next, each listed once. */
export const upcomingRuns = (
  { readModel }: Pick<Clockwork, 'readModel'>,
  tenantId: string,
  now: number,
): UpcomingRun[] =>
  readModel
    .coming(tenantId, now, SHOWN)
    .toSorted((one, other) => one.at - other.at)
    .slice(0, SHOWN)
    .map(withNextRuns)

const withNextRuns = ({ schedule, ...run }: ComingRun): UpcomingRun =>
  schedule === null
    ? { ...run, words: 'Once', again: [] }
    : {
        ...run,
        words: describeSchedule(schedule),
        again: scheduleOf(schedule).nextMany(run.at, AHEAD),
      }
