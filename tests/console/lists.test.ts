import { expect, test } from 'bun:test'
import { shortened } from '../support/address.ts'
import { SYSTEM, type Tenant, useConsole } from './fixture.ts'
import { environmentOf } from './one-of-each.ts'

const app = await useConsole()
const url = 'http://127.0.0.1:9/'

type Add = (tenant: Tenant, n: number, path: string) => Promise<string>

const idOf = async (sent: Promise<{ body: { id: string } }>) => (await sent).body.id
const delayed: Add = ({ api }) => {
  const job = { name: 'reminder', run_at: '2027-01-01T00:00:00Z', url }
  return idOf(api.post('/v1/clockwork/delayed', job))
}
const user: Add = ({ gate }, n) => {
  const traits = { email: `user-${n}@example.com` }
  return idOf(gate.post('/v1/gate/identities', { schema_id: 'user', traits }))
}
const webhook: Add = ({ gate }) => idOf(gate.post('/v1/gate/settings/webhooks', { url }))

async function delivery({ endpoint, message, deliveryOf }: Tenant, n: number) {
  if (n === 0) await endpoint()
  return deliveryOf(await message())
}

async function login({ id: tenantId, owner }: Tenant, n: number) {
  if (n === 0) await app.passepartout.bots.enable(SYSTEM, { tenantId, environment: 'test' })
  const { location } = await owner.in('test').send('/bots/try')
  return /logins\/([\w-]+)/.exec(location ?? '')?.[1] ?? ''
}

async function messengerUser({ id }: Tenant, n: number) {
  const person = { id: `u${n}`, firstName: 'Ada', lastName: null, username: null }
  const { people } = app.passepartout
  const seen = { ...person, languageCode: null }
  return (await app.db.commit(() => people.recognise(id, 'sandbox', seen))).id
}

const decision: Add = async ({ gate }) => {
  const question = { subject: 'billing', action: 'invoices.read', resource: 'document:42' }
  return (await gate.post('/v1/gate/authorize', question)).body.decision_id
}

const runs = async ({ job }: Tenant) => `/jobs/${await job({ schedule: '0 0 1 1 *' })}/runs`

async function run({ api }: Tenant, _: number, path: string) {
  const job = `/v1/clockwork${path.replace(/\/runs$/, '')}`
  await api.post(`${job}/run`)
  await app.clock.settled()
  return (await api.get(`${job}/executions`)).body[0].id
}

/** Lists with filters that match all and no rows, the rows of a page, and what adds a row and has its id. */
const LISTS: [
  path: string | ((tenant: Tenant) => Promise<string>),
  all: string,
  none: string,
  size: number,
  odd: number,
  add: Add,
][] = [
  ['/jobs', 'state=paused', 'q=nothing', 50, 400, ({ job }) => job({ is_active: false })],
  [runs, 'status=success', 'status=failed', 50, 400, run],
  ['/delayed', 'status=pending', 'q=nothing', 50, 400, delayed],
  ['/identities', 'state=active', 'q=nothing', 50, 422, user],
  ['/webhooks', 'state=active', 'state=paused', 25, 200, webhook],
  [
    '/endpoints',
    'q=many',
    'q=nothing',
    25,
    200,
    ({ endpoint }) => endpoint({ description: 'many' }),
  ],
  ['/messages', 'event_type=order.paid', 'event_type=no.such', 50, 400, ({ message }) => message()],
  ['/deliveries', 'status=succeeded', 'status=failed', 50, 400, delivery],
  ['/logins', 'state=pending', 'state=denied', 50, 400, login],
  ['/logins/users', 'within=1h', 'q=nothing', 50, 400, messengerUser],
  ['/policies/decisions', 'result=denied', 'result=allowed', 50, 422, decision],
]

test.each(LISTS)(
  'The list %s has the newest first, and leads on and back',
  async (address, all, none, size, statusOfOddCursor, add) => {
    const acme = await app.newTenant()
    const path = typeof address === 'string' ? address : await address(acme)
    const { open } = acme.owner.in(environmentOf(`/console${path}`))
    ;(await open(path)).says(' yet')
    const ids: string[] = []
    for (let n = 0; n <= size; n++) ids.unshift(await add(acme, n, path))
    const href = `${path}?${all}`
    const first = await open(href)
    const second = await open(first.next)
    expect([...first.rows, ...second.rows]).toEqual(ids)
    expect([first.rows.length, first.prev, second.next]).toEqual([size, '', ''])
    expect(shortened(second.prev)).toEndWith(href)
    expect((await open(second.prev)).rows).toEqual(first.rows)
    expect((await open(`${path}?${none}`)).says('No ').rows).toEqual([])
    expect((await open(`${href}&cursor=made-up`)).status).toBe(statusOfOddCursor)
  },
)
