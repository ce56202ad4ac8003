import { expect, test } from 'bun:test'
import { HOUR, SECOND, useConsole } from './fixture.ts'

const PAGE = '/keys'

const app = await useConsole()

async function withKey() {
  const acme = await app.tenant()
  const owner = await app.signIn({ roles: { [acme.id]: 'owner' } })
  const keys = () => app.platform.keys.list(acme.id)
  return { ...acme, owner, keys, path: `${PAGE}/${keys()[0]?.id}` }
}

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
    ['engine', engine],
    ['environment', 'test'],
    ['gate_scopes[]', 'flows'],
    ...fields,
  ]
  const chosen = ['relay:send', 'relay:read'].map((scope) => ['relay_scopes[]', scope])
  const own = ['own_scopes', 'orders.read, orders.write']
  expect((await owner.send(`${PAGE}/new`, form('relay', ...chosen, own))).status).toBe(200)
  const scopes = ['relay:send', 'relay:read', 'orders.read', 'orders.write']
  expect(keys()[0]).toMatchObject({ engine: 'relay', environment: 'test', scopes })
  expect((await owner.open(`${PAGE}/new?engine=relay`)).html).toMatch(/value="relay" checked/)
  const refused = await owner.send(`${PAGE}/new`, form('gate', ['own_scopes', 'Orders!']))
  refused.says('href="#field-own_scopes"', 'value="flows" checked')
  refused.says('value="gate" checked', 'value="test" checked')
  const without = await owner.send(`${PAGE}/new`, { engine: 'gate', environment: 'test' })
  without.says('href="#field-gate_scopes"').omits('value="flows" checked')
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
    ['engine', engine],
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
    engine === 'clockwork' ? ofClockwork : { engine, environment: 'live', scopes },
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
  for (const page of [PAGE, path]) await owner.sees(page, 'expires in 1 min 30 s')
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

test('The list has the newest key first, page by page, and filters by engine', async () => {
  const { owner, key, keys } = await withKey()
  for (let n = 0; n < 51; n++) await key('relay')
  const first = await owner.sees(PAGE, '52 active')
  const second = await owner.open(first.next)
  expect([...first.rows, ...second.rows]).toEqual(keys().map(({ id }) => id))
  expect((await owner.open(second.prev)).rows).toEqual(first.rows)
  const relay = await owner.open(`${PAGE}?engine=relay`)
  expect([relay.rows.length, (await owner.open(relay.next)).rows.length]).toEqual([50, 1])
  const none = `${PAGE}?engine=passepartout`
  await owner.sees(none, 'No API keys for Messenger login (passepartout) yet')
})
