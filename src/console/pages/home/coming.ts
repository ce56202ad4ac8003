import type { Clockwork } from '../../../engines/clockwork/index.ts'
import { describeSchedule, scheduleOf } from '../../../engines/clockwork/schedule/index.ts'
import type { ComingRun } from '../../../engines/clockwork/store/read-model.ts'

const SHOWN = 8
/** Further runs of each job, for the time axis. */
const AHEAD = 24

/** The next run of a job, its schedule in words, and when it runs again after that. */
export type Coming = Omit<ComingRun, 'schedule'> & { words: string; again: readonly number[] }

/** The jobs of a tenant that run next, each listed once. */
export const comingRuns = (
  { readModel }: Pick<Clockwork, 'readModel'>,
  tenantId: string,
  now: number,
): Coming[] =>
  readModel
    .coming(tenantId, now, SHOWN)
    .toSorted((one, other) => one.at - other.at)
    .slice(0, SHOWN)
    .map(withRhythm)

const withRhythm = ({ schedule, ...run }: ComingRun): Coming =>
  schedule === null
    ? { ...run, words: 'Once', again: [] }
    : {
        ...run,
        words: describeSchedule(schedule),
        again: scheduleOf(schedule).nextMany(run.at, AHEAD),
      }
