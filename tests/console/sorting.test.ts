import { expect, test } from 'bun:test'
import { HOUR, type Tenant, useConsole } from './fixture.ts'
import { environmentOf } from './one-of-each.ts'

const app = await useConsole()

/** What adds row number `n` and has its ID. Many rows have equal values. */
type Add = (tenant: Tenant, n: number, path: string) => Promise<string>

const [A, B] = ['0 0 1 1 *', '0 0 1 2 *'] as const

const job: Add = async ({ job, api }, n) => {
  const fields = { name: ['b', 'A', 'c'][n % 3], schedule: n % 2 === 0 ? A : B }
  const id = await job({ ...fields, is_active: n % 5 > 0 })
  if (n % 20 === 0) await api.post(`/v1/clockwork/jobs/${id}/run`)
  await app.clock.settled()
  return id
}

const delayed: Add = async ({ api }, n) => {
  const run_at = new Date(app.clock.now() + (1 + (n % 3)) * HOUR).toISOString()
  const fields = { name: 'reminder', run_at, url: 'http://127.0.0.1:9/' }
  return (await api.post('/v1/clockwork/delayed', fields)).body.id
}

const runs = async ({ job }: Tenant) => `/jobs/${await job({ schedule: A })}/runs`

const run: Add = async ({ api }, _, path) => {
  const job = `/v1/clockwork${path.replace('/runs', '')}`
  await api.post(`${job}/run`)
  await app.clock.settled()
  return (await api.get(`${job}/executions`)).body[0].id
}

const delivery: Add = async ({ endpoint, message, deliveryOf }, n) => {
  if (n === 0) await endpoint()
  return deliveryOf(await message())
}

/** The URL and state of an endpoint. */
const endpointOf = ({ target }: Tenant, n: number) => ({
  url: `${target.url}/${['b', 'A', 'c'][n % 3]}`,
  active: n % 5 > 0,
})

/** Two attempts of an hour ago, of which some succeeded. */
function addAttempts(id: string, n: number): string {
  const hour = app.clock.now() - (app.clock.now() % HOUR) - HOUR
  app.db.client.run('INSERT INTO endpoint_hours VALUES (?, ?, ?, ?, 0, 0, 0, ?, 0, 0, 0, 0)', [
    ...[id, hour, n % 3, 2 - (n % 3), 50 + (n % 2)],
  ])
  return id
}

const endpoint: Add = async (tenant, n) =>
  addAttempts(await tenant.endpoint(endpointOf(tenant, n)), n)

/** The first 20 get an event, which paused ones hold. */
const webhook: Add = async (tenant, n) => {
  const { gate } = tenant
  const { id } = (await gate.post('/v1/gate/settings/webhooks', endpointOf(tenant, n))).body
  const traits = { email: 'ada@example.com' }
  if (n === 19) await gate.post('/v1/gate/identities', { schema_id: 'user', traits })
  await app.clock.settled()
  return addAttempts(id, n)
}

/** Ten types at a time. */
const eventType: Add = async ({ message }, n) => {
  const event_type = `${n % 2 === 0 ? 'b' : 'a'}.${`${n}`.padStart(2, '0')}`
  await message({ event_type })
  if (n % 10 === 9) app.clock.jump(1000)
  return event_type
}

/** Lists with the rows of a page, what adds a row, and the order of a row's value by each sort. */
const LISTS: [
  path: string | ((tenant: Tenant) => Promise<string>),
  size: number,
  Add,
  Record<string, (n: number) => number>,
][] = [
  [
    '/jobs',
    50,
    job,
    {
      created: (n) => n,
      name: (n) => [1, 0, 2][n % 3] ?? 0,
      last_run: (n) => (n % 20 === 0 ? 1 : 0),
      next_run: (n) => (n % 5 > 0 ? n % 2 : 2),
    },
  ],
  ['/delayed', 50, delayed, { run_at: (n) => n % 3, created: (n) => n }],
  [runs, 50, run, { started: (n) => n }],
  [
    '/endpoints',
    25,
    endpoint,
    {
      status: (n) => (n % 5 > 0 ? 0 : 1),
      url: (n) => [1, 0, 2][n % 3] ?? 0,
      delivered: (n) => n % 3,
      p95: (n) => n % 2,
    },
  ],
  [
    '/webhooks',
    25,
    webhook,
    {
      status: (n) => (n % 5 > 0 ? 0 : 1),
      url: (n) => [1, 0, 2][n % 3] ?? 0,
      delivered: (n) => (n < 20 && n % 5 > 0 ? ((n % 3) + 1) / 3 : (n % 3) / 2),
      latest: (n) => (n < 20 ? 1 : 0),
    },
  ],
  ['/messages', 50, ({ message }) => message(), { received: (n) => n }],
  ['/deliveries', 50, delivery, { created: (n) => n }],
  [
    '/event-types',
    50,
    eventType,
    { name: (n) => (n % 2 === 0 ? 100 : 0) + n, last_seen: (n) => Math.floor(n / 10) },
  ],
]

test.each(LISTS)(
  'The list %s is sorted both ways, each row on one page',
  async (address, size, add, sorts) => {
    const acme = await app.newTenant()
    const path = typeof address === 'string' ? address : await address(acme)
    const { open } = acme.owner.in(environmentOf(`/console${path}`))
    const added: string[] = []
    for (let n = 0; n < size + 9; n++) added.push(await add(acme, n, path))
    for (const [sort, orderOf] of Object.entries(sorts)) {
      const values = added.map((_, n) => orderOf(n)).toSorted((one, other) => one - other)
      const first = (await open(`${path}?sort=${sort}`)).says('aria-sort="ascending"')
      const ascending = [...first.rows, ...(await open(first.next)).rows]
      expect([sort, ascending.map((id) => orderOf(added.indexOf(id)))]).toEqual([sort, values])
      expect([sort, first.rows.length, new Set(ascending).size]).toEqual([sort, size, added.length])
      const last = await open(`${path}?sort=-${sort}`)
      const descending = [...last.rows, ...(await open(last.next)).rows]
      expect([sort, descending]).toEqual([sort, ascending.toReversed()])
    }
  },
)
