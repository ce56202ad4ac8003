import { expect, test } from 'bun:test'
import { createStore } from '../../../src/engines/passepartout/store/index.ts'
import { plansOf } from '../../support/plans.ts'

const { plans: PLANS, planWith } = await plansOf(createStore)

const TABLES = ['attempts', 'bots', 'people', 'prompts', 'tokens', 'updates']

/** Steps of plans with this in them, each with its statement. */
const stepsWith = (part: string) =>
  PLANS.flatMap(({ statement, plan }) =>
    plan.filter((step) => step.includes(part)).map((step) => ({ step, statement })),
  )

test('every statement of the store is looked at', () => {
  expect(PLANS.length).toBeGreaterThanOrEqual(40)
  for (const table of TABLES)
    expect(PLANS.some(({ statement }) => statement.includes(`"passepartout_${table}"`))).toBe(true)
})

const isCount = (statement: string) => statement.startsWith('select count(*)')

/** All bots are for the command line; the others walk along small indexes. */
test('nothing that grows with sign-ins is walked through', () => {
  const walks = stepsWith('SCAN')
    .filter(({ statement }) => !isCount(statement))
    .map(({ step }) => step)

  expect(walks.filter((step) => !step.startsWith('SCAN json_each')).toSorted()).toEqual([
    'SCAN passepartout_bots',
    'SCAN passepartout_bots USING INDEX passepartout_bots_receiving',
    'SCAN passepartout_prompts USING COVERING INDEX passepartout_prompts_waiting',
    'SCAN passepartout_prompts USING INDEX passepartout_prompts_leased',
  ])
})

test('what is counted along an index is counted up to a limit', () => {
  const counts = stepsWith('SCAN').filter(({ statement }) => isCount(statement))

  expect(counts.map(({ step }) => step).toSorted()).toEqual([
    'SCAN passepartout_prompts USING COVERING INDEX passepartout_prompts_ready',
    'SCAN passepartout_prompts USING COVERING INDEX passepartout_prompts_waiting',
    'SCAN some',
    'SCAN some',
  ])
  expect(counts.filter(({ statement }) => !statement.includes('limit ?)'))).toEqual([])
})

test('the walk for the first that waits ends at the first', () => {
  const [{ statement } = { statement: '' }] = stepsWith('prompts_waiting')

  expect(statement).toEndWith('order by "passepartout_prompts"."due_at" asc limit ?')
})

test('nothing is sorted after it was found, but for the list of all bots', () => {
  expect(stepsWith('B-TREE').map(({ statement }) => statement)).toEqual([
    expect.stringMatching(/from "passepartout_bots" order by/),
  ])
})

test('what is deleted or changed for retention is found in slices', () => {
  const slices = PLANS.filter(({ statement }) => /where (row|s)\w+ in \(select/.test(statement))

  expect(slices.length).toBe(4)
  expect(slices.filter(({ statement }) => !/limit \?\)/.test(statement))).toEqual([])
})

test.each([
  [
    'the bot of an environment',
    ['"tenant_id" = ? and "passepartout_bots"."environment" = ?'],
    'passepartout_bots_by_tenant (tenant_id=? AND environment=?)',
  ],
  [
    'the bots of a tenant',
    ['"passepartout_bots"."tenant_id" = ? order by'],
    'passepartout_bots_by_tenant (tenant_id=?)',
  ],
  [
    'the bot of a messenger',
    ['"passepartout_bots"."platform" = ? and'],
    'passepartout_bots_by_platform (platform=? AND platform_bot_id=?)',
  ],
  ['the attempt of a nonce', ['"nonce_hash" = ?'], 'nonce_hash_unique (nonce_hash=?)'],
  ['the attempt of a link', ['"link_hash" = ?'], 'link_hash_unique (link_hash=?)'],
  [
    'what somebody was asked of late',
    ['"opener_id" = ?', '"opened_at" > ?'],
    'passepartout_attempts_by_opener (bot_id=? AND opener_id=? AND opened_at>?)',
  ],
  [
    'copies of tokens that can no longer be collected',
    ['access_token is not null'],
    'passepartout_attempts_to_collect (expires_at<?)',
  ],
  [
    'old attempts',
    ['delete from "passepartout_attempts"'],
    'passepartout_attempts_by_expiry (expires_at<?)',
  ],
  [
    'the messages about an attempt',
    ['"attempt_id" = ?'],
    'passepartout_prompts_by_attempt (attempt_id=?)',
  ],
  [
    'messages that come due',
    [`"state" = 'waiting'`, '"due_at" <= ?'],
    'passepartout_prompts_waiting (due_at<?)',
  ],
  [
    'the next lane',
    ['"passepartout_prompts"."due_at") >'],
    'passepartout_prompts_ready ((tenant_id,bot_id,due_at)>(?,?,?))',
  ],
  [
    'what is ready in a lane',
    [`"state" = 'ready'`, 'order by "passepartout_prompts"."due_at" asc'],
    'passepartout_prompts_ready (tenant_id=? AND bot_id=?)',
  ],
  ['lost leases', ['not in (select value from json_each', 'lease_until'], 'prompts_leased'],
  ['a token', ['select "person_id"', '"hash" = ?'], 'tokens_hash_unique (hash=?)'],
  ['expired tokens', ['expires_at < ?', 'tokens'], 'tokens_by_expiry (expires_at<?)'],
  ['old updates', ['at < ?', 'passepartout_updates'], 'passepartout_updates_by_time (at<?)'],
])('%s come from their index', (_, parts, index) => {
  expect(planWith(...parts)).toContain(index)
})
