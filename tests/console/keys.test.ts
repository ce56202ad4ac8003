import { describe, expect, test } from 'bun:test'
import { HOUR, MINUTE, SECOND, useConsole } from './fixture.ts'

const PAGE = '/console/keys'

const app = await useConsole()

/** A tenant with one API key, for clockwork. */
async function withKey() {
  const acme = await app.tenant()
  const owner = await app.signIn({ roles: { [acme.id]: 'owner' } })
  const keys = () => app.platform.keys.list(acme.id)
  return { ...acme, owner, keys, path: `${PAGE}/${keys()[0]?.id}` }
}

const secretIn = (html: string) => /svc_\w+_\w{43}/.exec(html)?.[0] ?? ''

/** The requests of the curl commands on a page. */
const requestsIn = (text: string) =>
  [...text.matchAll(/curl '([^']+)'(.*?)(?= curl |$)/g)].map(([, url = '', rest = '']) => ({
    path: new URL(url).pathname,
    key: /Bearer (\w+)/.exec(rest)?.[1],
    data: /-d '([^']*)'/.exec(rest)?.[1],
  }))

describe('A new key', () => {
  test('has the selected scopes of its engine, and own scopes', async () => {
    const { owner, keys } = await withKey()
    const { status } = await owner.send(PAGE, [
      ['engine', 'relay'],
      ['environment', 'test'],
      ['relay_scopes[]', 'relay:send'],
      ['relay_scopes[]', 'relay:read'],
      ['gate_scopes[]', 'flows'],
      ['own_scopes', 'orders.read, orders.write'],
    ])
    const scopes = ['relay:send', 'relay:read', 'orders.read', 'orders.write']
    expect([status, keys()[0]]).toMatchObject([
      200,
      { engine: 'relay', environment: 'test', scopes },
    ])
    expect((await owner.open(`${PAGE}/new?engine=relay`)).html).toMatch(/value="relay" checked/)
  })

  test.each([
    [[], 'gate_scopes'],
    [
      [
        ['gate_scopes[]', 'flows'],
        ['own_scopes', 'Orders!'],
      ],
      'own_scopes',
    ],
  ])('is refused with what was typed: %j', async (fields, name) => {
    const { owner, keys } = await withKey()
    const typed = [['engine', 'gate'], ['environment', 'test'], ...fields]
    const { status, html } = await owner.send(PAGE, typed)
    expect(status).toBe(422)
    expect(html).toContain(`href="#field-${name}"`)
    for (const value of ['gate', 'test']) expect(html).toContain(`value="${value}" checked`)
    expect(html.includes('value="flows" checked')).toBe(fields.length > 0)
    expect(keys()).toHaveLength(1)
  })

  test.each([
    ['clockwork', []],
    ['relay', ['relay:read']],
    ['relay', ['relay:send', 'relay:endpoints']],
    ['gate', ['identities:read', 'identities:write']],
    ['gate', ['settings:read']],
    ['gate', ['authorize']],
  ])('for %s with %j is shown once, with commands that work', async (engine, scopes) => {
    const { owner, keys } = await withKey()
    const { html, text } = await owner.send(PAGE, [
      ['engine', engine],
      ['environment', 'live'],
      ...scopes.map((scope) => [`${engine}_scopes[]`, scope]),
    ])
    const key = secretIn(html)
    for (const part of ['data-guarded', 'Copy key']) expect(html).toContain(part)
    const requests = requestsIn(text)
    expect(requests.length).toBeGreaterThan(0)
    for (const { path, key: shown, data } of requests) {
      const api = app.client(key)
      const { status } = data ? await api.post(path, JSON.parse(data)) : await api.get(path)
      expect([path, shown, status < 300]).toEqual([path, key, true])
    }
    expect(keys()[0]).toMatchObject({
      engine,
      environment: engine === 'clockwork' ? null : 'live',
      scopes: engine === 'clockwork' ? ['clockwork'] : scopes,
    })
    for (const path of [PAGE, `${PAGE}/${keys()[0]?.id}`])
      expect((await owner.open(path)).html).not.toContain(key)
  })
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
  for (const page of [PAGE, path])
    expect((await owner.open(page)).text).toContain('expires in 1 min 30 s')
  const other = keys().find(({ id }) => !path.endsWith(id))
  expect((await owner.open(path)).html).toContain(`href="${PAGE}/${other?.id}"`)
  app.clock.jump(90 * SECOND)
  expect(await statuses()).toEqual([401, 200])
  expect((await owner.open(path)).text).toContain('Expired;')
})

test('A revoked key stops working immediately, and is not rotated', async () => {
  const { owner, api, keys, path } = await withKey()
  expect((await owner.send(`${path}/rotate`, { grace: 'forever' })).status).toBe(400)
  const revoked = await owner.send(`${path}/revoke`)
  expect((await api.get('/v1/clockwork/jobs')).status).toBe(401)
  const list = await owner.follow(revoked)
  expect(list.html).toContain(`id="row-${keys()[0]?.id}" class="changed"`)
  expect(list.text).toContain('0 active, 1 inactive')
  expect((await owner.send(`${path}/rotate`, { grace: 'day' })).status).toBe(409)
  expect(keys()).toHaveLength(1)
  app.clock.jump(MINUTE)
})

test('The list has the newest key first, page by page, and filters by engine', async () => {
  const { owner, key, keys } = await withKey()
  for (let n = 0; n < 119; n++) await key(n % 2 ? 'relay' : 'gate')
  const first = await owner.open(PAGE)
  const second = await owner.open(first.next)
  const third = await owner.open(second.next)
  expect([first, second, third].flatMap(({ rows }) => rows)).toEqual(keys().map(({ id }) => id))
  expect([third.next, first.text]).toEqual(['', expect.stringContaining('120 active')])
  expect((await owner.open(third.prev)).rows).toEqual(second.rows)
  const relay = await owner.open(`${PAGE}?engine=relay`)
  expect([relay.rows.length, (await owner.open(relay.next)).rows.length]).toEqual([50, 9])
  expect((await owner.open(`${PAGE}?engine=clockwork`)).rows).toHaveLength(1)
  const none = await owner.open(`${PAGE}?engine=passepartout`)
  expect(none.text).toContain('No API keys for Messenger login (passepartout) yet')
})
