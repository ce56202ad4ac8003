import { describe, expect, test } from 'bun:test'
import type { Role } from '../../src/console/operators/rights.ts'
import { bootTestApp } from '../support/app.ts'
import { formBody } from '../support/form.ts'
import { newOperator } from '../support/operator.ts'

const HOUR = 3_600_000

/** A tenant with a key of clockwork, and an owner who looks after its keys. */
async function fixture() {
  const app = await bootTestApp()
  const acme = await app.tenant('Acme')
  const signIn = async (role: Role) =>
    (await newOperator(app, { roles: { [acme.id]: role } })).signIn()
  const owner = await signIn('owner')
  const headers = { ...owner.headers, accept: 'text/html' }

  const page = async (path = '/console/keys') => (await app.raw(path, { headers })).body as string
  const post = (path: string, fields: [string, string][]) =>
    app.raw(path, { method: 'POST', headers, body: formBody(app, headers, fields) })
  const keys = () => app.platform.keys.list(acme.id)

  return { ...app, acme, signIn, headers, page, post, keys }
}

const hrefsIn = (body: string): string[] =>
  [...body.matchAll(/<a class="rowlink" href="\/console\/keys\/([^"]+)"/g)].map(
    ([, id]) => id ?? '',
  )

const linkIn = (body: string, rel: string): string =>
  new RegExp(`rel="${rel}" href="([^"]*)"`).exec(body)?.[1]?.replaceAll('&amp;', '&') ?? ''

const secretIn = (body: string): string => /svc_\w+_\w{43}/.exec(body)?.[0] ?? ''

const textOf = (body: string): string =>
  body
    .slice(body.indexOf('<main'))
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ')

/** What the commands on a page ask for, taken apart. */
const requestsIn = (body: string) =>
  [...textOf(body).matchAll(/curl '([^']+)'(.*?)(?= curl |$)/g)].map(([, url = '', rest = '']) => ({
    url,
    key: /Bearer (\w+)/.exec(rest)?.[1] ?? '',
    data: /-d '([^']*)'/.exec(rest)?.[1]?.replaceAll('&quot;', '"'),
  }))

describe('making a key', () => {
  test('gives it exactly what was ticked, and the names of the tenant besides', async () => {
    await using app = await fixture()
    const { status } = await app.post('/console/keys', [
      ['engine', 'relay'],
      ['environment', 'test'],
      ['relay_scopes[]', 'relay:send'],
      ['relay_scopes[]', 'relay:read'],
      ['gate_scopes[]', 'flows'],
      ['own_scopes', 'orders.read, orders.write'],
    ])

    expect(status).toBe(200)
    expect(app.keys()).toContainEqual(
      expect.objectContaining({
        engine: 'relay',
        environment: 'test',
        scopes: ['relay:send', 'relay:read', 'orders.read', 'orders.write'],
      }),
    )
  })

  test('asks for no scope where an engine has a single one, nor for data where it has one kind', async () => {
    await using app = await fixture()

    expect((await app.post('/console/keys', [['engine', 'clockwork']])).status).toBe(200)
    expect(app.keys()).toHaveLength(2)
    const [key] = app.keys()
    expect(key).toMatchObject({ engine: 'clockwork', environment: null, scopes: ['clockwork'] })
  })

  test.each([
    ['nothing ticked', [], 'gate_scopes', 'Must name at least one scope.'],
    [
      'a name that is none',
      [
        ['gate_scopes[]', 'flows'],
        ['own_scopes', 'Orders!'],
      ],
      'own_scopes',
      'Must be lowercase letters',
    ],
  ] as const)('comes back with what was typed for %s', async (_what, fields, field, words) => {
    await using app = await fixture()
    const { status, body } = await app.post('/console/keys', [
      ['engine', 'gate'],
      ['environment', 'test'],
      ...fields.map(([name, value]): [string, string] => [name, value]),
    ])

    expect(status).toBe(422)
    expect(body).toContain(`href="#field-${field}"`)
    expect(textOf(body)).toContain(words)
    expect(body).toMatch(/value="gate" checked/)
    expect(body).toMatch(/value="test" checked/)
    expect(/value="flows" checked/.test(body)).toBe(fields.length > 0)
    expect(app.keys()).toHaveLength(1)
  })

  test('begins with the engine whose list one came from', async () => {
    await using app = await fixture()
    expect(await app.page('/console/keys/new?engine=relay')).toMatch(/value="relay" checked/)
  })

  test.each([
    ['clockwork', []],
    ['relay', ['relay:read']],
    ['relay', ['relay:send', 'relay:endpoints']],
    ['gate', ['identities:read', 'identities:write']],
    ['gate', ['settings:read']],
    ['gate', ['authorize']],
  ] as const)('shows a key of %s once, with commands that work: %p', async (engine, scopes) => {
    await using app = await fixture()
    const { body } = await app.post('/console/keys', [
      ['engine', engine],
      ['environment', 'live'],
      ...scopes.map((scope): [string, string] => [`${engine}_scopes[]`, scope]),
    ])
    const key = secretIn(body)

    expect(body).toContain('data-guarded')
    expect(body).toContain('Copy key')
    const requests = requestsIn(body)
    expect(requests.length).toBeGreaterThan(0)
    for (const { url, key: shown, data } of requests) {
      expect(shown).toBe(key)
      const { pathname } = new URL(url)
      const api = app.client(key)
      const answer = data ? await api.post(pathname, JSON.parse(data)) : await api.get(pathname)
      expect([pathname, answer.status < 300]).toEqual([pathname, true])
    }
    expect(await app.page()).not.toContain(key)
    expect(await app.page(`/console/keys/${app.keys()[0]?.id}`)).not.toContain(key)
  })
})

describe('replacing a key', () => {
  test('lets both work for as long as was chosen, and counts down', async () => {
    await using app = await fixture()
    const [old] = app.keys()
    const { body } = await app.post(`/console/keys/${old?.id}/rotate`, [['grace', 'hour']])
    const replacement = app.client(secretIn(body))
    const statuses = async () => [
      (await app.acme.api.get('/v1/clockwork/jobs')).status,
      (await replacement.get('/v1/clockwork/jobs')).status,
    ]

    expect(await statuses()).toEqual([200, 200])
    app.clock.jump(HOUR - 90_000)
    expect(textOf(await app.page())).toContain('expires in 1 min 30 s')
    const page = await app.page(`/console/keys/${old?.id}`)
    expect(textOf(page)).toContain('expires in 1 min 30 s')
    expect(page).toContain(`href="/console/keys/${app.keys().find((key) => key !== old)?.id}"`)
    app.clock.jump(90_000)
    expect(await statuses()).toEqual([401, 200])
    expect(textOf(await app.page(`/console/keys/${old?.id}`))).toContain('Expired;')
  })

  test('is for keys that work, and refuses a time that nobody can choose', async () => {
    await using app = await fixture()
    const [key] = app.keys()
    const rotate = async (grace: string) =>
      (await app.post(`/console/keys/${key?.id}/rotate`, [['grace', grace]])).status

    expect(await rotate('forever')).toBe(400)
    await app.post(`/console/keys/${key?.id}/revoke`, [])
    expect(await rotate('day')).toBe(409)
    expect(app.keys()).toHaveLength(1)
  })
})

describe('revoking a key', () => {
  test('locks its program out at once, and shows the row', async () => {
    await using app = await fixture()
    const [key] = app.keys()
    const { status, headers } = await app.post(`/console/keys/${key?.id}/revoke`, [])

    expect(status).toBe(303)
    expect((await app.acme.api.get('/v1/clockwork/jobs')).status).toBe(401)
    const list = await app.page(headers.get('location') ?? '')
    expect(list).toContain(`id="row-${key?.id}" class="changed"`)
    expect(textOf(list)).toContain('0 active, 1 inactive')
  })

  test('is not for keys of others', async () => {
    await using app = await fixture()
    const other = await app.tenant('Other')
    const [theirs] = app.platform.keys.list(other.id)

    for (const path of ['', '/rotate', '/revoke']) {
      const method = path === '' ? 'GET' : 'POST'
      const body = method === 'POST' ? formBody(app, app.headers, { grace: 'day' }) : undefined
      const answer = await app.raw(`/console/keys/${theirs?.id}${path}`, {
        method,
        headers: app.headers,
        body,
      })
      expect([path, answer.status]).toEqual([path, 404])
    }
    expect((await other.api.get('/v1/clockwork/jobs')).status).toBe(200)
  })
})

describe('the list of keys', () => {
  test('has the newest first, page by page in both directions', async () => {
    await using app = await fixture()
    for (let made = 0; made < 119; made++) await app.acme.key(made % 2 ? 'relay' : 'gate')
    const all = app.keys().map(({ id }) => id)

    const first = await app.page()
    const second = await app.page(linkIn(first, 'next'))
    const third = await app.page(linkIn(second, 'next'))
    expect([first, second, third].flatMap(hrefsIn)).toEqual(all)
    expect(linkIn(third, 'next')).toBe('')
    expect(hrefsIn(await app.page(linkIn(third, 'prev')))).toEqual(hrefsIn(second))
    expect(hrefsIn(await app.page(linkIn(third, 'first')))).toEqual(hrefsIn(first))
    expect(textOf(first)).toContain('120 active')
  })

  test('is narrowed to an engine by its address, also on further pages', async () => {
    await using app = await fixture()
    for (let made = 0; made < 60; made++) await app.acme.key('relay')

    const first = await app.page('/console/keys?engine=relay')
    const second = await app.page(linkIn(first, 'next'))
    expect([hrefsIn(first).length, hrefsIn(second).length]).toEqual([50, 10])
    expect(hrefsIn(await app.page('/console/keys?engine=clockwork'))).toHaveLength(1)
    expect(await app.page('/console/keys?engine=gate')).toContain(
      'No API keys for Users (gate) yet',
    )
  })
})
