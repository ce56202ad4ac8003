import { expect, test } from 'bun:test'
import { createStore } from '../../../src/engines/passepartout/store/index.ts'
import { MINUTE, type Tenant, usePassepartout } from './fixture.ts'

const { app, clock, newTenant, rows, signInToSandbox } = await usePassepartout()
const { attempts, bots, people, readModel } = createStore(app.db)

test('Sign-ins in a state are listed by page, of one tenant and environment', async () => {
  const [acme, other] = [await newTenant(), await newTenant('Other')]
  const logins = [await acme.test.start(), await acme.test.start(), await acme.test.start()]
  await acme.live.start()
  await other.test.start()
  await signInToSandbox(acme)
  const newest = attempts.inState(acme.sandbox, 'pending', { limit: 2 })
  const rest = attempts.inState(acme.sandbox, 'pending', { limit: 2, before: newest[1]?.seq })
  const ids = [...newest, ...rest].map(({ id }) => id)
  expect(ids).toEqual(logins.map(({ attemptId }) => attemptId).toReversed())
  expect(attempts.latest(acme.sandbox, 'pending', 10)).toHaveLength(3)
})

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
  expect(people.find(other.id, user.id)).toBeUndefined()
  people.remove(other.id, user.id)
  expect(people.find(acme.id, user.id)).toBeDefined()
  const mine = bots.find(acme.id, 'test') ?? expect.unreachable()
  const moved = { ...mine, tenantId: other.id, match: 'required' as const }
  expect(bots.save(mine.id, moved)).toBeUndefined()
  expect(rows('bots', `where id = '${mine.id}'`)).toMatchObject([{ match: 'optional' }])
})
