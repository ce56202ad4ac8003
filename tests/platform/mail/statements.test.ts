import { expect, test } from 'bun:test'
import { createStore } from '../../../src/platform/mail/store/index.ts'
import { plansOf } from '../../support/plans.ts'

const { plans, planWith } = await plansOf(createStore)

const WITHIN = 'created_at>? AND created_at<?'

test('Frequent statements read no mails but those they need, and sort nothing', () => {
  const scans = plans.filter(({ plan }) => plan.some((step) => /^SCAN mails(?! USING)/.test(step)))
  // At start and, without a server for mail, once a minute: those that are kept.
  const rare = scans.filter(({ statement }) => statement.includes("= 'kept'"))
  expect(scans.filter((plan) => !rare.includes(plan))).toEqual([])
  expect(rare.length).toBeLessThanOrEqual(2)
  expect(plans.filter(({ plan }) => plan.join().includes('TEMP B-TREE'))).toEqual([])
})

test.each([
  [["= 'ready'", 'order by "mails"."due_at"'], 'mails_ready (tenant_id=?)'],
  [['> ', "= 'ready'", 'order by "mails"."tenant_id"'], 'mails_ready ((tenant_id,due_at)>(?,?))'],
  [['"due_at" <= '], 'mails_waiting (due_at<?)'],
  [['json_each'], 'mails_leased'],
  [['"recipient_hash" = '], `mails_by_recipient (recipient_hash=? AND ${WITHIN})`],
  [['delete', 'about = '], 'mails_about (tenant_id=? AND about=?)'],
  [['update', 'about = '], 'mails_about (tenant_id=? AND about=?)'],
  [['created_at < '], 'mails_by_time (created_at<?)'],
] as const)('The statement with %j uses %s', (parts, index) => {
  expect(planWith(...parts)).toContain(index)
})
