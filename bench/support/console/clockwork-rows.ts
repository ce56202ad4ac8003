import { JOBS_PER_TENANT } from '../../../src/engines/clockwork/limits.ts'
import { type Filling, type Ground, oneIn10 } from './filling.ts'

/** As many jobs as there may be, and what came of them; a tenth of it of one job. */
export function clockworkRows({ first, rows, both, ids, owner, at, created }: Ground): Filling[] {
  const jobs = 2 * Math.min(JOBS_PER_TENANT, rows)
  return [
    {
      table: 'cron_jobs',
      of: first.job,
      count: jobs,
      columns: (i) => ({
        id: ids.job(i),
        ...owner(i),
        ...created(i),
        name: `'Nightly report ' || ${i}`,
        last_status: `iif(${i} % 500 < 2, 'failed', 'success')`,
        last_run_at: at(i),
        next_run_at: `row.next_run_at + ${i}`,
      }),
    },
    {
      table: 'executions',
      of: first.execution,
      count: both,
      columns: (i) => ({
        id: ids.execution(i),
        ...owner(i),
        job_id: oneIn10(i, first.job, ids.job(`${i} % ${jobs}`)),
        status: `iif(${i} % 500 = 0, 'failed', 'success')`,
        slot_at: at(i),
        started_at: at(i),
        completed_at: `${at(i)} + 84`,
      }),
    },
    {
      table: 'delayed_jobs',
      of: first.delayed,
      count: jobs,
      columns: (i) => ({
        id: ids.delayed(i),
        ...owner(i),
        ...created(i),
        name: `'Reminder ' || ${i}`,
        run_at: at(i),
        status: `iif(${i} % 200 < 2, 'failed', 'success')`,
      }),
    },
  ]
}
