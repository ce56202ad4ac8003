import { afterAll, beforeAll, expect, test } from 'bun:test'
import { bootTestApp, type TestApp } from '../support/app.ts'
import { newOperator, type Operator } from '../support/operator.ts'

const ACTOR = { kind: 'cli', source: 'test' } as const

let app: TestApp
beforeAll(async () => {
  app = await bootTestApp()
})
afterAll(() => app.stop())

type Tenants = Record<'first' | 'second', string>

/** What happens to an operator's tenants while a session is open that has never chosen one. */
const EVENTS: [
  string,
  { isAdmin?: boolean; belongsTo: (keyof Tenants)[] },
  (operator: Operator, tenants: Tenants) => Promise<unknown>,
  (tenants: Tenants) => string | number,
][] = [
  [
    'joins a tenant whose name comes first',
    { belongsTo: ['first'] },
    (operator, { second }) => operator.setRole(second, 'owner'),
    ({ first }) => first,
  ],
  [
    'has a tenant renamed so that it comes first',
    { belongsTo: ['first', 'second'] },
    (_, { second }) => app.platform.tenants.change(ACTOR, second, { name: 'AAA' }),
    ({ first }) => first,
  ],
  [
    'is removed from the tenant',
    { belongsTo: ['first', 'second'] },
    (operator, { first }) => operator.leave(first),
    () => 403,
  ],
  [
    'acts for the installation and joins a tenant',
    { isAdmin: true, belongsTo: [] },
    (operator, { first }) => operator.setRole(first, 'owner'),
    () => 403,
  ],
]

test.each(EVENTS)('no session moves to another tenant when its operator %s', async (...event) => {
  const [, { isAdmin = false, belongsTo }, happen, expected] = event
  const first = (await app.tenant('Mine')).id
  const second = (await app.tenant('Also mine')).id
  const operator = await newOperator(app, { isAdmin })
  for (const name of belongsTo) {
    await operator.setRole({ first, second }[name], 'owner')
    app.clock.jump(1)
  }
  const { api } = await operator.signIn()

  await happen(operator, { first, second })

  const job = { name: 'report', schedule: '0 3 * * *', url: 'http://127.0.0.1/' }
  const { status, body } = await api.post('/dashboard/clockwork/jobs', job)
  expect(status === 201 ? body.tenant_id : status).toBe(expected({ first, second }))
})

test('a session that acts nowhere acts in the first tenant that its operator joins', async () => {
  const { id } = await app.tenant('Welcome')
  const operator = await newOperator(app)
  const { headers } = await operator.signIn()
  expect((await app.raw('/console/settings', { headers })).status).toBe(403)
  await operator.setRole(id, 'viewer')
  const { status, body } = await app.raw('/console/settings', { headers })
  expect([status, body]).toEqual([200, expect.stringContaining(id)])
})
