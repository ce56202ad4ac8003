import { describe, expect, test } from 'bun:test'
import { withClients } from '../../../support/config.ts'
import {
  bootGate,
  type Json,
  plain,
  SETTINGS,
  type Tenant,
  UNKNOWN_ID,
  useGate,
} from '../fixture.ts'
import { besides } from '../webhooks/fixture.ts'

const gate = await useGate(withClients('twitch', 'google', 'discord', 'slack'))

const SECURITY = `${SETTINGS}/security`
const PROVIDERS = `${SETTINGS}/oidc-providers`
const RETURN_URLS = `${SETTINGS}/return-urls`
const POLICIES = `${SETTINGS}/policies`

/** In the order of the contract. */
const NAMES = [
  ...['github', 'google', 'gitlab', 'microsoft', 'discord', 'facebook', 'linkedin', 'apple'],
  ...['slack', 'twitch', 'spotify'],
]

type Asker = Pick<Tenant, 'api'>

async function read({ api }: Asker, path: string): Promise<Json> {
  const answer = await api.get(path)
  expect(answer).toMatchObject({ status: 200 })
  return answer.body
}

/** The settings after a change, which the answer to it has, too. */
async function put(by: Asker, path: string, body: Json): Promise<Json> {
  const answer = await by.api.put(path, body)
  expect(answer).toMatchObject({ status: 200 })
  expect(await read(by, path)).toEqual(answer.body)
  return answer.body
}

const security = (passwordless_enabled: boolean, mfa_enabled: boolean) => ({
  passwordless_enabled,
  mfa_enabled,
})
const listWith = (...on: string[]) => ({
  providers: NAMES.map((provider) => ({ provider, enabled: on.includes(provider) })),
})
const switched = (enabled: boolean, ...names: string[]) => ({
  providers: names.map((provider) => ({ provider, enabled })),
})

describe('Security settings', () => {
  test('are two switches, initially off, which can be set together or alone', async () => {
    const acme = await gate.newTenant()
    expect(await read(acme, SECURITY)).toEqual(security(false, false))
    for (const [body, expected] of [
      [security(true, true), security(true, true)],
      [security(false, true), security(false, true)],
      [{ passwordless_enabled: true }, security(true, true)],
      [{ mfa_enabled: false }, security(true, false)],
      [{}, security(true, false)],
      [{ Mfa_Enabled: true, mfa: true }, security(true, false)],
    ])
      expect(await put(acme, SECURITY, body)).toEqual(expected)
    const changes = [{ mfa_enabled: true }, { passwordless_enabled: false }]
    await Promise.all(changes.map((body) => acme.api.put(SECURITY, body)))
    expect(await read(acme, SECURITY)).toEqual(security(false, true))
  })

  test.each(['passwordless_enabled', 'mfa_enabled'])('refuse other values of %s', async (name) => {
    const acme = await gate.newTenant()
    for (const value of [null, 0, 'true', [], {}]) {
      const body = { ...security(true, true), [name]: value }
      expect(await acme.api.put(SECURITY, body)).toMatchObject(plain(400, `${name}: `))
    }
    expect(await read(acme, SECURITY)).toEqual(security(false, false))
  })
})

describe('Providers', () => {
  test('are all listed in a fixed order, initially off, and can be switched one by one', async () => {
    const acme = await gate.newTenant()
    expect(JSON.stringify(await read(acme, PROVIDERS))).toBe(JSON.stringify(listWith()))
    const three = await put(acme, PROVIDERS, switched(true, 'spotify', 'apple', 'github'))
    const inOrder = JSON.stringify(listWith('github', 'apple', 'spotify'))
    expect(JSON.stringify(three)).toBe(inOrder)
    expect(await put(acme, PROVIDERS, switched(false, 'apple'))).toEqual(
      listWith('github', 'spotify'),
    )
    expect(await put(acme, PROVIDERS, listWith('google'))).toEqual(listWith('google'))
    const more = { providers: [{ provider: 'apple', enabled: true, client_id: 'x' }], extra: 1 }
    expect(await put(acme, PROVIDERS, more)).toEqual(listWith('google', 'apple'))
    await Promise.all(NAMES.map((name) => acme.api.put(PROVIDERS, switched(true, name))))
    expect(await read(acme, PROVIDERS)).toEqual(listWith(...NAMES))
  })

  const google = { provider: 'google', enabled: false }
  test.each<[string, Json]>([
    ['providers', {}],
    ['providers', { providers: google }],
    ['providers', { providers: [] }],
    ['providers.1', { providers: [google, null] }],
    ['providers.0.provider', { providers: [{ enabled: false }] }],
    ['providers.0.enabled', { providers: [{ provider: 'google' }] }],
    ['providers.0.enabled', { providers: [{ provider: 'google', enabled: 'false' }] }],
    ...['google-tenant', 'GitHub', 'google ', 'twitter', '', '__proto__', null].map(
      (provider): [string, Json] => [
        'providers.1.provider',
        { providers: [google, { provider, enabled: true }] },
      ],
    ),
    ['providers', { providers: [google, google] }],
    ['providers', { providers: [google, { ...google, enabled: true }] }],
  ])('are not changed with a bad %s: %j', async (field, body) => {
    const acme = await gate.newTenant()
    await put(acme, PROVIDERS, switched(true, 'google'))
    expect(await acme.api.put(PROVIDERS, body)).toMatchObject(plain(400, `${field}: `))
    expect(await read(acme, PROVIDERS)).toEqual(listWith('google'))
  })

  test('are public if they are on and have a client, like the buttons of flows', async () => {
    const acme = await gate.newTenant()
    const path = `/public/gate/providers/${acme.id}`
    const offered = async (headers = {}) => (await gate.app.raw(path, { headers })).body
    expect(await offered()).toEqual({ providers: [] })
    const { headers } = await gate.app.raw(path)
    expect(headers.get('access-control-allow-origin')).toBe('*')
    await put(acme, PROVIDERS, switched(true, 'twitch', 'google', 'discord', 'github'))
    const providers = ['google', 'discord', 'twitch']
    expect(await offered()).toEqual({ providers })
    expect(await offered({ authorization: 'Bearer garbage' })).toEqual({ providers })
    for (const kind of ['login', 'registration']) {
      const { nodes } = (await gate.app.client(acme.key).get(`/v1/gate/auth/${kind}`)).body.ui
      const buttons = nodes.filter(({ group }: Json) => group === 'oidc')
      expect(buttons.map(({ attributes }: Json) => attributes.value)).toEqual(providers)
    }
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
      expect(await gate.app.raw(path, { method, body: '{}' })).toMatchObject(plain(405, 'GET'))
  })

  test.each<(id: string) => string>([
    () => UNKNOWN_ID,
    () => 'acme',
    () => '%00',
    () => '%zz',
    () => "'%20or%201=1--",
    () => 'x'.repeat(5000),
    () => '__proto__',
    (id) => `${id}%20`,
    (id) => `${id}%00`,
    (id) => id.toUpperCase(),
    (id) => id.slice(0, -1),
  ])('of an unknown tenant are not found: %p', async (wrong) => {
    const answer = await gate.app.raw(`/public/gate/providers/${wrong(gate.acme.id)}`)
    expect(answer).toMatchObject({ status: 404, body: { error: 'tenant not found' } })
    expect(answer.headers.get('www-authenticate')).toBeNull()
  })
})

describe('Return URLs', () => {
  const list = (...return_urls: unknown[]) => ({ return_urls })
  const numbered = (count: number) =>
    Array.from({ length: count }, (_, n) => `https://app.example.com/${n}`)
  const ofLength = (length: number) => 'https://app.example.com/'.padEnd(length, 'x')

  test('are replaced as a whole, in their spelling and order, without duplicates', async () => {
    const acme = await gate.newTenant()
    expect(await read(acme, RETURN_URLS)).toEqual(list())
    const urls = ['https://b.example.com/Path', 'http://localhost:3000/', 'HTTPS://A.example.com']
    for (const [sent, kept] of [
      [urls, urls],
      [[...urls, ...urls], urls],
      [numbered(100), numbered(100)],
      [[ofLength(500)], [ofLength(500)]],
      [[], []],
    ] as const)
      expect(await put(acme, RETURN_URLS, list(...sent))).toEqual(list(...kept))
  })

  test.each([
    'https://app.example.com',
    'https://app.example.com:8443/x',
    'http://127.0.0.1:5173/',
    'http://[::1]:3000/',
    'https://bücher.example/größe',
    'https://app.example.com/a@b',
    'https://app.example.com/%3Fa',
  ])('can be %s', async (url) => {
    expect(await put(await gate.newTenant(), RETURN_URLS, list(url))).toEqual(list(url))
  })

  test.each<unknown>([
    '',
    '/welcome',
    '//app.example.com/',
    'javascript:alert(1)',
    'javascript://app.example.com/%0aalert(1)',
    'data:text/html,x',
    'myapp://callback',
    'https:app.example.com',
    'https:\\\\app.example.com',
    'https://',
    'https://[::1',
    'https://app.example.com:99999/',
    'https://*.example.com/\u0000',
    ' https://app.example.com/',
    'https://app.example.com/ ',
    'https://app.exa\tmple.com/',
    'https://app.example.com/\u007f',
    'https://app.example.com\\.evil.example/',
    'https://user@app.example.com/',
    'https://:secret@app.example.com/',
    'https://app.example.com/?a=b',
    'https://app.example.com?',
    'https://app.example.com/#',
    ofLength(501),
    null,
    { url: 'https://app.example.com/' },
  ])('cannot be %j', async (url) => {
    const acme = await gate.newTenant()
    await put(acme, RETURN_URLS, list('https://kept.example.com/'))
    const answer = await acme.api.put(RETURN_URLS, list('https://good.example.com/', url))
    expect(answer).toMatchObject(plain(400, 'return_urls.1: '))
    expect(await read(acme, RETURN_URLS)).toEqual(list('https://kept.example.com/'))
  })

  test.each<Json>([list(...numbered(101)), {}, { return_urls: null }, { return_urls: 'x' }])(
    'are a list of up to 100: not %j',
    async (body) => {
      const answer = await gate.api.put(RETURN_URLS, body)
      expect(answer).toMatchObject(plain(400, 'return_urls: '))
    },
  )
})

/** One change of each part of the settings. */
const CHANGES: [path: string, body: Json][] = [
  [PROVIDERS, switched(true, 'github')],
  [SECURITY, security(true, true)],
  [RETURN_URLS, { return_urls: ['https://app.example.com/'] }],
  [POLICIES, { policies: 'permit(principal, action, resource);' }],
]

const partsOf = (by: Asker): Promise<Json[]> => Promise.all(CHANGES.map(([path]) => read(by, path)))

describe('The parts of the settings', () => {
  test('change independently, for one tenant and both environments, and are audited', async () => {
    const [acme, other] = [await gate.newTenant(), await gate.newTenant()]
    const sandbox = gate.withKey((await acme.newKey('gate', 'test')).key)
    const initial = await partsOf(other)
    for (const [n, [path, body]] of CHANGES.entries()) {
      const before = await partsOf(acme)
      await put(sandbox, path, body)
      const after = await partsOf(acme)
      expect(after[n]).not.toEqual(before[n])
      expect(after.toSpliced(n, 1)).toEqual(before.toSpliced(n, 1))
      const wrong = { providers: 5, return_urls: 5, policies: 5, mfa_enabled: 5 }
      expect(await acme.api.put(path, wrong)).toMatchObject({ status: 400 })
    }
    expect(await partsOf(other)).toEqual(initial)
    const rows = gate.app.db.client
      .query(
        "select action from audit_log where tenant_id = ? and action like '%.changed' order by seq",
      )
      .all(acme.id)
    const parts = ['providers', 'security', 'return_urls', 'policies']
    expect(rows).toEqual(parts.map((part) => ({ action: `${part}.changed` })))
  })

  test('keep changes made at once', async () => {
    const [acme, other] = [await gate.newTenant(), await gate.newTenant()]
    await Promise.all(CHANGES.map(([path, body]) => acme.api.put(path, body)))
    const initial = await partsOf(other)
    for (const [n, part] of (await partsOf(acme)).entries()) expect(part).not.toEqual(initial[n])
  })

  test('are the same in all processes', async () => {
    await using own = await bootGate()
    await using next = await besides(own, own.key)
    for (const [path] of CHANGES) await next.get(path)
    for (const [path, body] of CHANGES) {
      await next.put(path, body)
      expect(await read(own, path)).toEqual((await next.get(path)).body)
      expect(await read(own, path)).not.toEqual(await read(await own.newTenant(), path))
    }
    for (let n = 0; n < 20; n++) {
      const isOn = n % 2 === 0
      await Promise.all([
        own.api.put(SECURITY, { mfa_enabled: isOn }),
        next.put(SECURITY, { passwordless_enabled: !isOn }),
      ])
      expect(await read(own, SECURITY)).toEqual(security(!isOn, isOn))
      expect((await next.get(SECURITY)).body).toEqual(security(!isOn, isOn))
    }
  })
})
