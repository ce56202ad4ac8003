import { expect, test } from 'bun:test'
import { createStore } from '../../../src/platform/mail/store/index.ts'
import { plansOf } from '../../support/plans.ts'

const { plans, planWith } = await plansOf(createStore)

test('what runs often goes through no mails but those it is after', () => {
  const walking = plans.filter(({ plan }) =>
    plan.some((step) => /^SCAN mails(?! USING)/.test(step)),
  )

  // At start and, without a server for mail, once a minute: those that are kept.
  const rare = walking.filter(({ statement }) => statement.includes("= 'kept'"))
  expect(walking.filter((plan) => !rare.includes(plan))).toEqual([])
  expect(rare.length).toBeLessThanOrEqual(2)
})

test('nothing is sorted', () => {
  expect(plans.filter(({ plan }) => plan.join().includes('TEMP B-TREE'))).toEqual([])
})

test.each([
  [["= 'ready'", 'order by "mails"."due_at"'], 'mails_ready (tenant_id=?)'],
  [['> ', "= 'ready'", 'order by "mails"."tenant_id"'], 'mails_ready ((tenant_id,due_at)>(?,?))'],
  [['"due_at" <= '], 'mails_waiting (due_at<?)'],
  [['json_each'], 'mails_leased'],
  [
    ['"recipient_hash" = '],
    'mails_by_recipient (recipient_hash=? AND created_at>? AND created_at<?)',
  ],
  [['delete', 'about = '], 'mails_about (tenant_id=? AND about=?)'],
  [['update', 'about = '], 'mails_about (tenant_id=? AND about=?)'],
  [['created_at < '], 'mails_by_time (created_at<?)'],
] as const)('the statement with %j uses %s', (parts, index) => {
  expect(planWith(...parts)).toContain(index)
})
