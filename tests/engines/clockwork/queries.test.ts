import { expect, test } from 'bun:test'
import { createStore as createMonitorStore } from '../../../src/engines/clockwork/monitors/store.ts'
import { createStore } from '../../../src/engines/clockwork/store/index.ts'
import { plansOf } from '../../support/plans.ts'

const { plans: PLANS, planWith } = await plansOf(createStore, createMonitorStore)

test('No table is walked through, no index without a limit, and nothing is sorted afterwards', () => {
  expect(PLANS.length).toBeGreaterThan(30)
  for (const { statement, plan } of PLANS)
    for (const step of plan) {
      expect(step).not.toMatch(/^SCAN (?!json_each|some$)(?!.*USING (COVERING )?INDEX)/)
      if (/^SCAN (?!json_each)/.test(step)) expect(statement).toContain('limit')
      expect(step, statement).not.toContain('ORDER BY')
    }
})

test.each<[index: string, parts: string[]]>([
  ['cron_jobs_due (next_run_at<?)', ['"cron_jobs"."next_run_at" <= ?']],
  ['INDEX cron_jobs_due', ['select "next_run_at" from "cron_jobs"']],
  ['cron_jobs_by_tenant (tenant_id=?)', ['from "cron_jobs"', 'desc']],
  ['cron_jobs_by_url (tenant_id=? AND url=?)', ['"cron_jobs"."url" = ?']],
  ['delayed_jobs_by_tenant (tenant_id=?)', ['from "delayed_jobs"', 'run_at" asc']],
  ['INDEX runs_waiting', ['select "due_at" as "dueAt" from "runs"']],
  ['runs_waiting (due_at<?)', [`"state" = 'waiting' and "runs"."due_at" <= ?`]],
  ['runs_ready ((tenant_id,host,due_at)>(?,?,?))', ['"runs"."due_at") >']],
  ['runs_ready (tenant_id=? AND host=?)', ['"runs"."host" is ?']],
  ['INDEX runs_leased', ['not in (select value from json_each']],
  ['runs_by_job (job_id=?)', ['count(*) filter (where', '"runs"."job_id" = ?']],
  ['executions_by_job (tenant_id=? AND job_id=?)', ['"executions"."job_id" = ?', 'desc']],
  ['executions_expired (expires_at<?)', ['delete from "executions"', 'expires_at']],
  ['delayed_jobs_expired (expires_at<?)', ['"delayed_jobs"."expires_at" <=']],
  ['_hours_1 (tenant_id=? AND hour>? AND hour<?)', ['from "clockwork_hours"', 'order by']],
  ['clockwork_hours_by_time (hour<?)', ['delete from "clockwork_hours"']],
  ['cron_jobs_by_next_run (tenant_id=? AND <expr>>? AND <expr><?)', ["'cron' as kind"]],
  ['cron_jobs_by_next_run (tenant_id=? AND <expr>=? AND seq<?)', ['next_run_at else', 'desc']],
  ['cron_jobs_by_last_run (tenant_id=? AND <expr>>? AND <expr><?)', ['last_run_at end <', 'desc']],
  ['cron_jobs_by_name (tenant_id=? AND name>? AND name<?)', ['name collate nocase > ?']],
  ['cron_jobs_by_name (tenant_id=? AND name=? AND seq>?)', ['name collate nocase = ?', 'asc']],
  ['COVERING INDEX cron_jobs_by_state (tenant_id=?)', ['count(*) filter', 'from "cron_jobs"']],
  [
    'COVERING INDEX delayed_jobs_by_tenant (tenant_id=? AND run_at>? AND run_at<?)',
    ['count(*) filter', 'from "delayed_jobs"'],
  ],
  ['delayed_jobs_by_creation (tenant_id=? AND created_at>?', ['"created_at" > ?']],
  ['executions_by_tenant (tenant_id=?)', ['from executions e', 'left join']],
  ['monitors_due (due_at<?)', ['"monitors"."due_at" <= ?']],
  ['COVERING INDEX monitors_due', ['select "due_at" from "monitors"']],
  ['(token_hash=?)', ['from "monitors"', 'where ("monitors"."token_hash" = ?']],
  ['(tenant_id=? AND monitor_id=?)', ['max("received_at") from "monitor_pings"']],
  ['monitor_transitions_by_time (at<?)', ['delete from "monitor_transitions"', 'rowid in']],
  ['skipped_slots_by_day (day<?)', ['"skipped_slots"."day" <']],
])('The index %s serves its query', (index, parts) => {
  expect(planWith(...parts)).toContain(index)
})
