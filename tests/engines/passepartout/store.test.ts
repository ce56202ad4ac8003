import { expect, test } from 'bun:test'
import { createStore } from '../../../src/engines/passepartout/store/index.ts'
import { plansOf } from '../../support/plans.ts'
import { MINUTE, type Tenant, usePassepartout } from './fixture.ts'

const { plans, planWith } = await plansOf(createStore)

/** Steps of plans with this in them, each with its statement. */
const stepsWith = (part: string) =>
  plans.flatMap(({ statement, plan }) =>
    plan.filter((step) => step.includes(part)).map((step) => ({ step, statement })),
  )

test('Nothing that grows with sign-ins is scanned; counts have a limit, and retention works in slices', () => {
  expect(plans.length).toBeGreaterThanOrEqual(40)
  for (const table of ['attempts', 'bots', 'people', 'prompts', 'tokens', 'updates'])
    expect(plans.some(({ statement }) => statement.includes(`"passepartout_${table}"`))).toBe(true)
  const isCount = ({ statement }: { statement: string }) => statement.startsWith('select count(*)')
  const scans = stepsWith('SCAN').filter(({ step }) => !step.startsWith('SCAN json_each'))
  const counts = scans.filter(isCount)
  const scanned = scans.filter((scan) => !isCount(scan)).map(({ step }) => step)
  const prompts = 'SCAN passepartout_prompts USING'
  // All bots are for the command line; the others are small indexes.
  expect(scanned.toSorted()).toEqual([
    'SCAN passepartout_bots',
    'SCAN passepartout_bots USING INDEX passepartout_bots_receiving',
    `${prompts} COVERING INDEX passepartout_prompts_waiting`,
    `${prompts} INDEX passepartout_prompts_leased`,
  ])
  expect(counts.map(({ step }) => step).toSorted()).toEqual([
    `${prompts} COVERING INDEX passepartout_prompts_ready`,
    `${prompts} COVERING INDEX passepartout_prompts_waiting`,
    ...['SCAN some', 'SCAN some'],
  ])
  expect(counts.filter(({ statement }) => !statement.includes('limit ?)'))).toEqual([])

  const slices = plans.filter(({ statement }) => /where (row|s)\w+ in \(select/.test(statement))
  expect(slices.length).toBe(4)
  expect(slices.filter(({ statement }) => !/limit \?\)/.test(statement))).toEqual([])
  const [first] = stepsWith('prompts_waiting')
  expect(first?.statement).toEndWith('order by "passepartout_prompts"."due_at" asc limit ?')
  const sorted = expect.stringMatching(/from "passepartout_bots" order by/)
  expect(stepsWith('B-TREE').map(({ statement }) => statement)).toEqual([sorted])
})

const PROMPT = '"passepartout_prompts"'

test.each<[index: string, ...parts: string[]]>([
  ['bots_by_tenant (tenant_id=? AND environment=?)', '? and "passepartout_bots"."environment" = ?'],
  ['by_opener (bot_id=? AND opener_id=? AND opened_at>?)', '"opener_id" = ?', '"opened_at" > ?'],
  ['prompts_waiting (due_at<?)', `"state" = 'waiting'`, '"due_at" <= ?'],
  ['prompts_ready ((tenant_id,bot_id,due_at)>(?,?,?))', `${PROMPT}."due_at") >`],
  ['ready (tenant_id=? AND bot_id=?)', `"state" = 'ready'`, `order by ${PROMPT}."due_at" asc`],
])('%s serves the statement with %s', (index, ...parts) => {
  expect(planWith(...parts)).toContain(index)
})

const { app, clock, newTenant, rows, signInToSandbox } = await usePassepartout()
const { attempts, bots, people, readModel } = createStore(app.db)

test('Approved sign-ins are counted from one time to another, of one tenant and environment', async () => {
  const [acme, other] = [await newTenant(), await newTenant('Other')]
  const counted = async (tenant: Tenant) => {
    clock.jump(MINUTE)
    const after = readModel.seqAt(clock.now())
    await signInToSandbox(tenant)
    await acme.test.start()
    await signInToSandbox(other)
    clock.jump(MINUTE)
    const upTo = readModel.seqAt(clock.now())
    await signInToSandbox(acme)
    return readModel.countOfApproved(acme.sandbox, { after, upTo })
  }
  expect([await counted(acme), await counted(other)]).toEqual([1, 0])
  const all = { after: 0, upTo: readModel.seqAt(clock.now() + 1) }
  expect(readModel.countOfApproved(acme.sandbox, all)).toBe(3)
  expect(readModel.countOfApproved(acme.owner, all)).toBe(0)
})

test('Rows of another tenant are neither found nor changed', async () => {
  const [acme, other] = [await newTenant(), await newTenant('Other')]
  const { attemptId, user } = await signInToSandbox(acme)
  expect(attempts.find(acme.id, attemptId)).toMatchObject({ id: attemptId })
  expect(attempts.find(other.id, attemptId)).toBeUndefined()
  const [{ seq } = { seq: 0 }] = attempts.inState(acme.sandbox, 'approved', { limit: 9 })
  expect(seq).toBeGreaterThan(0)
  expect(attempts.inState(acme.sandbox, 'approved', { before: seq, limit: 9 })).toEqual([])
  for (const owner of [other.sandbox, acme.owner]) {
    expect(attempts.inState(owner, 'approved', { limit: 9 })).toEqual([])
    expect(attempts.latest(owner, 'approved', 9)).toEqual([])
  }
  expect(people.find(other.id, user.id)).toBeUndefined()
  people.remove(other.id, user.id)
  expect(people.find(acme.id, user.id)).toBeDefined()
  const mine = bots.find(acme.id, 'test') ?? expect.unreachable()
  const moved = { ...mine, tenantId: other.id, match: 'required' as const }
  expect(bots.save(mine.id, moved)).toBeUndefined()
  expect(rows('bots', `where id = '${mine.id}'`)).toMatchObject([{ match: 'optional' }])
})
