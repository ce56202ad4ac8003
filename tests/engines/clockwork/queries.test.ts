import { expect, test } from 'bun:test'
import { createStore } from '../../../src/engines/clockwork/store/index.ts'
import { plansOf } from '../../support/plans.ts'

const { plans: PLANS, planWith } = await plansOf(createStore)

test('no statement of the engine walks through a table', () => {
  const walks = PLANS.filter(({ plan }) =>
    plan.some((step) => /^SCAN (?!json_each|some$)(?!.*USING (COVERING )?INDEX)/.test(step)),
  )

  expect(PLANS.length).toBeGreaterThan(30)
  expect(walks).toEqual([])
})

test('no index is walked through without a limit', () => {
  const walked = PLANS.filter(
    ({ statement, plan }) =>
      plan.some((step) => step.startsWith('SCAN') && !step.startsWith('SCAN json_each')) &&
      !statement.includes('limit'),
  )

  expect(walked).toEqual([])
})

test('no list and nothing that the loop asks for is sorted after it was found', () => {
  const sorted = PLANS.filter(({ plan }) => plan.some((step) => step.includes('ORDER BY')))

  expect(sorted).toEqual([])
})

test.each([
  ['due cron slots', ['"cron_jobs"."next_run_at" <= ?'], 'cron_jobs_due (next_run_at<?)'],
  ['the first cron slot', ['select "next_run_at" from "cron_jobs"'], 'INDEX cron_jobs_due'],
  ['the list of cron jobs', ['from "cron_jobs"', 'desc'], 'cron_jobs_by_tenant (tenant_id=?)'],
  [
    'the list of delayed jobs',
    ['from "delayed_jobs"', 'run_at" asc'],
    'delayed_jobs_by_tenant (tenant_id=?)',
  ],
  ['the first waiting run', ['select "due_at" as "dueAt" from "runs"'], 'INDEX runs_waiting'],
  ['what comes due', [`"state" = 'waiting' and "runs"."due_at" <= ?`], 'runs_waiting (due_at<?)'],
  ['the next lane', ['"runs"."due_at") >'], 'runs_ready ((tenant_id,host,due_at)>(?,?,?))'],
  ['what is ready in a lane', ['"runs"."host" is ?'], 'runs_ready (tenant_id=? AND host=?)'],
  ['lost leases', ['not in (select value from json_each'], 'INDEX runs_leased'],
  ['runs in flight', ['count(*) from "runs"', '"runs"."job_id" = ?'], 'runs_by_job (job_id=?)'],
  [
    'executions of a job',
    ['"executions"."job_id" = ?', 'desc'],
    'executions_by_job (tenant_id=? AND job_id=?)',
  ],
  [
    'expired executions',
    ['delete from "executions"', 'expires_at'],
    'executions_expired (expires_at<?)',
  ],
  ['ended delayed jobs', ['"delayed_jobs"."expires_at" <='], 'delayed_jobs_expired (expires_at<?)'],
  [
    'hours of a tenant',
    ['from "clockwork_hours"', 'order by'],
    'sqlite_autoindex_clockwork_hours_1 (tenant_id=? AND hour>? AND hour<?)',
  ],
  ['old hours', ['delete from "clockwork_hours"'], 'clockwork_hours_by_time (hour<?)'],
  ['what comes next', ["'cron' as kind"], 'cron_jobs_next (tenant_id=? AND next_run_at>?)'],
  ['the latest attempts', ['from executions e', 'left join'], 'executions_by_tenant (tenant_id=?)'],
  ['old skipped slots', ['"skipped_slots"."day" <'], 'skipped_slots_by_day (day<?)'],
])('%s come from their index', (_, parts, index) => {
  expect(planWith(...parts)).toContain(index)
})
