import { expect, test } from 'bun:test'
import { DAY, HOUR, SECOND, SYSTEM, useConsole } from './fixture.ts'

const PAGE = '/keys'

const app = await useConsole()

async function withKey() {
  const acme = await app.tenant()
  const owner = await app.signIn({ roles: { [acme.id]: 'owner' } })
  const keys = () => app.platform.keys.list(acme.id)
  return { ...acme, owner, keys, path: `${PAGE}/${keys()[0]?.id}` }
}

/** With it, the overview is not that of a new tenant. */
const JOB = { name: 'nightly', schedule: '0 0 1 1 *', url: 'https://example.com/' }

/** The form of a new key, with the fields that every key needs. */
const formOf = (...engines: string[]) => [
  ['name', 'Shop'],
  ['expires', 'never'],
  ...engines.map((engine) => ['engines[]', engine]),
]

const secretIn = (html: string) => /svc_\w+_\w{43}/.exec(html)?.[0] ?? ''

const requestsIn = (text: string) =>
  [...text.matchAll(/curl '([^']+)'(.*?)(?= curl |$)/g)].map(([, url = '', rest = '']) => ({
    path: new URL(url).pathname,
    key: /Bearer (\w+)/.exec(rest)?.[1],
    data: /-d '([^']*)'/.exec(rest)?.[1],
  }))

test('A new key has the selected scopes of its engine, and own scopes', async () => {
  const { owner, keys } = await withKey()
  const form = (engine: string, ...fields: string[][]) => [
    ...formOf(engine),
    ['environment', 'test'],
    ['gate_scopes[]', 'flows'],
    ...fields,
  ]
  const chosen = ['relay:send', 'relay:read'].map((scope) => ['relay_scopes[]', scope])
  const own = ['own_scopes', 'orders.read, orders.write']
  expect((await owner.send(`${PAGE}/new`, form('relay', ...chosen, own))).status).toBe(200)
  const scopes = ['relay:send', 'relay:read', 'orders.read', 'orders.write']
  expect(keys()[0]).toMatchObject({ engines: ['relay'], environment: 'test', scopes })
  expect((await owner.open(`${PAGE}/new?engine=relay`)).html).toMatch(/value="relay" checked/)
  const refused = await owner.send(`${PAGE}/new`, form('gate', ['own_scopes', 'Orders!']))
  refused.says('href="#field-own_scopes"', 'value="flows" checked')
  refused.says('value="gate" checked', 'value="test" checked')
  const without = await owner.send(`${PAGE}/new`, formOf('gate').with(0, ['name', ' ']))
  without.says('href="#field-gate_scopes"', 'href="#field-name"').omits('value="flows" checked')
  expect([refused.status, without.status, keys().length]).toEqual([422, 422, 2])
})

test.each([
  ['clockwork', []],
  ['relay', ['relay:send', 'relay:endpoints']],
  ['gate', ['identities:read', 'identities:write']],
  ['gate', ['authorize']],
])('A key for %s with %j is shown once, with commands that work', async (engine, scopes) => {
  const { owner, keys } = await withKey()
  const chosen = scopes.map((scope) => [`${engine}_scopes[]`, scope])
  const page = await owner.send(`${PAGE}/new`, [
    ...formOf(engine),
    ['environment', 'live'],
    ...chosen,
  ])
  const key = secretIn(page.says('data-guarded', 'Copy key').html)
  const requests = requestsIn(page.text)
  expect(requests.length).toBeGreaterThan(0)
  for (const { path, key: shown, data } of requests) {
    const api = app.client(key)
    const { status } = data ? await api.post(path, JSON.parse(data)) : await api.get(path)
    expect([path, shown, status < 300]).toEqual([path, key, true])
  }
  const ofClockwork = { environment: null, scopes: ['clockwork'] }
  expect(keys()[0]).toMatchObject(
    engine === 'clockwork' ? ofClockwork : { engines: [engine], environment: 'live', scopes },
  )
  for (const path of [PAGE, `${PAGE}/${keys()[0]?.id}`]) (await owner.open(path)).omits(key)
})

test('A rotated key works until the end of the chosen time', async () => {
  const { owner, api, keys, path } = await withKey()
  const { html } = await owner.send(`${path}/rotate`, { grace: 'hour' })
  const replacement = app.client(secretIn(html))
  const statuses = async () => [
    (await api.get('/v1/clockwork/jobs')).status,
    (await replacement.get('/v1/clockwork/jobs')).status,
  ]
  expect(await statuses()).toEqual([200, 200])
  app.clock.jump(HOUR - 90 * SECOND)
  await owner.sees(PAGE, 'Expires in 1 min')
  await owner.sees(path, 'Rotated; expires in 1 min')
  const other = keys().find(({ id }) => !path.endsWith(id))
  expect((await owner.open(path)).links).toContain(`${PAGE}/${other?.id}`)
  app.clock.jump(90 * SECOND)
  expect(await statuses()).toEqual([401, 200])
  await owner.sees(path, 'Expired;')
})

test('A revoked key stops working immediately, and is not rotated', async () => {
  const { owner, api, keys, path } = await withKey()
  expect((await owner.send(`${path}/rotate`, { grace: 'forever' })).status).toBe(400)
  const list = await owner.press(path, 'Revoke key')
  expect((await api.get('/v1/clockwork/jobs')).status).toBe(401)
  list.says(`id="row-${keys()[0]?.id}" class="changed"`, '0 active, 1 inactive')
  expect((await owner.send(`${path}/rotate`, { grace: 'day' })).status).toBe(409)
  expect(keys()).toHaveLength(1)
})

test('A key of the installation is created, rotated and revoked by admins, and shown to no tenant', async () => {
  const admin = await app.newAdmin({ email: 'key-admin@example.com' })
  const { owner } = await withKey()
  const path = '/installation/keys'
  const form = [...formOf(), ['installation_scopes[]', 'installation:read']]
  const page = await admin.send(`${path}/new`, form)
  const [request] = requestsIn(page.says('Copy key').text)
  const ask = async (key: string) => (await app.client(key).get(request?.path ?? '')).status
  const key = secretIn(page.html)
  expect([request?.key, await ask(key)]).toEqual([key, 200])
  const [found] = app.platform.keys.newest(null, 1)
  const scopes = ['installation:read']
  expect(found).toMatchObject({ name: 'Shop', engines: ['installation'], scopes })
  ;(await admin.sees(path, 'key-admin@example.com')).says('installation:read').omits(key)
  const one = `${path}/${found?.id}`
  ;(await admin.open(one)).says('Created by', 'key-admin@example.com').omits('Audit log', key)
  const rotated = secretIn((await admin.send(`${one}/rotate`, { grace: 'hour' })).html)
  expect(await ask(rotated)).toBe(200)
  await admin.send(`${one}/edit`, { name: 'Ansible', expires: 'keep' })
  await admin.press(one, 'Revoke key')
  expect([await ask(key), await ask(rotated)]).toEqual([401, 200])
  expect(app.platform.keys.find(null, found?.id ?? '')).toMatchObject({ name: 'Ansible' })
  const ending = formOf().with(1, ['expires', '7d'])
  await admin.send(`${path}/new`, [...ending, ['installation_scopes[]', 'installation:read']])
  await admin.sees('/installation', 'API key Shop expires')
  const refused = await admin.send(`${path}/new`, formOf())
  expect(refused.says('href="#field-installation_scopes"').status).toBe(422)
  ;(await owner.open(PAGE)).omits('Ansible')
  ;(await owner.open(`${PAGE}/new`)).omits('installation:write')
  expect((await owner.open(`${PAGE}/${found?.id}`)).status).toBe(404)
  expect((await owner.send(`${PAGE}/${found?.id}/rotate`, { grace: 'day' })).status).toBe(404)
  const smuggled = [...formOf('installation'), ['installation_scopes[]', 'installation:write']]
  expect((await owner.send(`${PAGE}/new`, smuggled)).status).toBe(422)
})

test('The list has the newest key first, page by page, and filters by engine', async () => {
  const { owner, key, keys } = await withKey()
  for (let n = 0; n < 51; n++) await key('relay')
  const first = await owner.sees(PAGE, '52 active')
  const second = await owner.open(first.next)
  expect([...first.rows, ...second.rows]).toEqual(keys().map(({ id }) => id))
  expect((await owner.open(second.prev)).rows).toEqual(first.rows)
  const relay = await owner.open(`${PAGE}?engine=relay`)
  expect([relay.rows.length, (await owner.open(relay.next)).rows.length]).toEqual([50, 1])
  await owner.sees(`${PAGE}?engine=passepartout`, 'No matching API keys')
})

test('Keys that have expired or will soon are found first, and by state', async () => {
  const { id: tenantId, owner, key, keys } = await withKey()
  const ends = { active: 30 * DAY, expiring: 2 * DAY, expired: HOUR }
  const ids = new Map<string, string>()
  for (const [state, afterMs] of Object.entries(ends)) {
    const wanted = { tenantId, engines: ['clockwork' as const], expiry: { afterMs } }
    ids.set(state, (await app.platform.keys.issue(SYSTEM, wanted)).id)
  }
  ids.set('revoked', (await key('relay')).id)
  await owner.send(`${PAGE}/${ids.get('revoked')}/revoke`)
  app.clock.jump(HOUR)
  const { text } = await owner.open(PAGE)
  expect(text).toMatch(/Expired ?1 Expires soon ?1 All ?5 Active ?3 Revoked ?1/)
  for (const [state, id] of ids) {
    const { rows } = await owner.open(`${PAGE}?state=${state}`)
    expect([state, rows.includes(id)]).toEqual([state, true])
    expect([state, rows.length]).toEqual([state, state === 'active' ? 3 : 1])
  }
  expect(keys()).toHaveLength(5)
})

test('A key of several engines is created with commands for each, and refused for test jobs', async () => {
  const { owner, keys } = await withKey()
  const form = [...formOf('clockwork', 'relay'), ['relay_scopes[]', 'relay:send']]
  const test = await owner.send(`${PAGE}/new`, [...form, ['environment', 'test']])
  expect(test.status).toBe(422)
  test.says('href="#field-environment"')
  const page = await owner.send(`${PAGE}/new`, [...form, ['environment', 'live']])
  const key = secretIn(page.html)
  expect(key).toMatch(/^svc_live_sk_/)
  expect(requestsIn(page.text).map(({ path }) => path)).toEqual([
    '/v1/clockwork/jobs',
    '/v1/relay/messages',
  ])
  expect(keys()[0]).toMatchObject({ name: 'Shop', engines: ['clockwork', 'relay'] })
  for (const engine of ['clockwork', 'relay'])
    expect((await owner.open(`${PAGE}?engine=${engine}`)).rows).toContain(keys()[0]?.id ?? '')
})

test('Name, note and expiry of a key change; what has ended keeps its expiry', async () => {
  const { id, owner, api, keys, path } = await withKey()
  const edit = `${path}/edit`
  const form = { name: 'Billing', note: 'Owner: Ada\r\nOn call: Bob', expires: 'date' }
  const refused = await owner.send(edit, form)
  refused.says('href="#field-expires_on"')
  await owner.send(edit, { ...form, expires_on: '2026-03-03' })
  const note = 'Owner: Ada\nOn call: Bob'
  const ends = '2026-03-04T00:00:00.000Z'
  expect(keys()[0]).toMatchObject({ name: 'Billing', note, expires_at: ends, lifetime_ms: null })
  await owner.sees(path, 'Billing', 'Expires 2026-03-04 00:00 UTC')
  await api.post('/v1/clockwork/jobs', JOB)
  await owner.sees('/', 'API key Billing expires 2026-03-04 00:00 UTC', 'Extend')
  await owner.send(edit, { name: 'Billing 2', note: '', expires: 'keep' })
  expect(keys()[0]).toMatchObject({ name: 'Billing 2', note: null, expires_at: ends })
  app.clock.jump(72 * HOUR)
  expect(await api.get('/v1/clockwork/jobs')).toMatchObject({
    status: 401,
    body: { error: 'this API key has expired: create or rotate a key before the old one ends' },
  })
  const later = await app.signIn({ roles: { [id]: 'owner' } })
  await later.send(edit, { name: 'Old', expires: 'never' })
  expect(keys()[0]).toMatchObject({ name: 'Old', expires_at: ends })
})

test('A member without the right to keys is not told which ones expire', async () => {
  const { id, api, owner, keys } = await withKey()
  await api.post('/v1/clockwork/jobs', JOB)
  await owner.send(`${PAGE}/${keys()[0]?.id}/edit`, { name: 'Payroll', expires: '7d' })
  const member = await app.signIn({ roles: { [id]: 'member' } })
  await owner.sees('/', 'API key Payroll expires')
  expect((await member.open('/')).text).not.toContain('Payroll')
})
