import { expect, test } from 'bun:test'
import { createBackupStore } from '../../src/platform/backup/index.ts'
import { newId } from '../../src/platform/ids.ts'
import { newOperator } from '../support/operator.ts'
import { HOUR, MINUTE, SECOND, SYSTEM, type Tenant, useConsole } from './fixture.ts'
import { environmentOf, letter } from './one-of-each.ts'

const app = await useConsole()
const admin = await app.newAdmin()
const start = app.clock.now()

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

/** Of any script, and in both cases. */
const NAMES = ['b', 'A', 'Ö'] as const
const byName = (n: number) => [1, 0, 2][n % 3] ?? 0
const shuffled = (n: number) => (n * 7) % 59
const emailOf = (n: number) => `x${`${shuffled(n)}`.padStart(2, '0')}`

const decision: Add = async ({ gate }, n) => {
  const question = { subject: `s${n % 3}`, action: 'invoices.read', resource: 'document:42' }
  return (await gate.post('/v1/gate/authorize', question)).body.decision_id
}

async function login({ id: tenantId, owner }: Tenant, n: number) {
  if (n === 0) await app.passepartout.bots.enable(SYSTEM, { tenantId, environment: 'test' })
  const { location } = await owner.in('test').send('/bots/try')
  return /logins\/([\w-]+)/.exec(location ?? '')?.[1] ?? ''
}

async function messengerUser({ id: tenantId }: Tenant, n: number) {
  const names = { firstName: 'Ada', lastName: null, username: null, languageCode: null }
  const { people } = app.passepartout
  const seen = () =>
    app.db.commit(() => people.recognise(tenantId, 'sandbox', { id: `u${n}`, ...names }))
  if (n % 20 === 0) app.clock.jump(MINUTE)
  const { id } = await seen()
  if (n % 2 === 0) return id
  app.db.client.run('UPDATE passepartout_people SET updated_at = 1 WHERE id = ?', [id])
  return id
}

async function key({ id: tenantId }: Tenant, n: number) {
  const wanted = { tenantId, engines: ['clockwork' as const], name: NAMES[n % 3] ?? '' }
  const { id } = await app.platform.keys.issue(SYSTEM, wanted)
  const [used, end] = [n % 4 === 0 ? null : start + (n % 4), n % 5 === 0 ? null : start + (n % 5)]
  app.db.client.run('UPDATE api_keys SET last_used_at = ?, expires_at = ? WHERE id = ?', [
    ...[used, end],
    id,
  ])
  return id
}

const member: Add = async ({ id }, n) =>
  (await newOperator(app, { email: `${emailOf(n)}@${id}.example`, roles: { [id]: 'viewer' } })).id

async function operator(_: Tenant, n: number) {
  const one = await newOperator(app, { email: `${emailOf(n)}@example.org` })
  if (n % 3 === 0) await one.signIn()
  return one.id
}

const tenant: Add = async (_, n) =>
  (await app.platform.tenants.create(SYSTEM, { name: NAMES[n % 3] ?? '', plan: 'free' })).id

const mail: Add = async () => {
  app.clock.jump(SECOND)
  return app.db.commit(() => app.mail.post(letter(null), app.clock.now()))
}

async function backup(_: Tenant, n: number) {
  const startedAt = app.clock.now() - MINUTE + Math.floor(n / 10)
  const row = { id: newId(), owner: null, startedAt, endedAt: startedAt, error: null }
  createBackupStore(app.db).add({ ...row, origin: 'command', file: `/srv/${n}`, bytes: n % 3 })
  return row.id
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
  ['/policies/decisions', 50, decision, { time: (n) => n }],
  ['/logins', 50, login, { started: (n) => n }],
  [
    '/logins/users',
    50,
    messengerUser,
    {
      created: (n) => Math.floor(n / 20),
      signed_in: (n) => (n % 2 === 0 ? 1 + Math.floor(n / 20) : 0),
    },
  ],
  [
    '/keys',
    50,
    key,
    {
      created: (n) => n,
      name: byName,
      used: (n) => n % 4,
      expires: (n) => (n % 5 === 0 ? 5 : n % 5),
    },
  ],
  ['/team', Number.POSITIVE_INFINITY, member, { joined: () => 0, name: shuffled, email: shuffled }],
  [
    '/installation/operators',
    50,
    operator,
    { created: (n) => n, email: shuffled, signed_in: (n) => (n % 3 === 0 ? 1 : 0) },
  ],
  ['/installation/tenants', 50, tenant, { created: (n) => n, name: byName }],
  ['/installation/mail', 50, mail, { created: (n) => n }],
  [
    '/installation/backups',
    Number.POSITIVE_INFINITY,
    backup,
    { started: (n) => Math.floor(n / 10), size: (n) => n % 3 },
  ],
]

test.each(LISTS)(
  'The list %s is sorted both ways, each row on one page',
  async (address, size, add, sorts) => {
    const acme = await app.newTenant()
    const path = typeof address === 'string' ? address : await address(acme)
    const by = path.startsWith('/installation') ? admin : acme.owner
    const { open } = by.in(environmentOf(`/console${path}`))
    const added: string[] = []
    for (let n = 0; n < Math.min(size, 50) + 9; n++) added.push(await add(acme, n, path))
    /** The rows of all pages, without those that were there before. */
    async function all(sort: string) {
      const pages = [(await open(`${path}?sort=${sort}`)).says('aria-sort=')]
      for (let next = pages[0]?.next; next; next = pages.at(-1)?.next) pages.push(await open(next))
      expect(pages.slice(0, -1).every(({ rows }) => rows.length === size)).toBe(true)
      return pages.flatMap(({ rows }) => rows).filter((id) => added.includes(id))
    }
    for (const [sort, orderOf] of Object.entries(sorts)) {
      const values = added.map((_, n) => orderOf(n)).toSorted((one, other) => one - other)
      const ascending = await all(sort)
      expect([sort, ascending.map((id) => orderOf(added.indexOf(id)))]).toEqual([sort, values])
      expect([sort, new Set(ascending).size]).toEqual([sort, added.length])
      expect([sort, await all(`-${sort}`)]).toEqual([sort, ascending.toReversed()])
    }
  },
)
