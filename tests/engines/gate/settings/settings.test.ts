import { expect, test } from 'bun:test'
import { withClients } from '../../../support/config.ts'
import { bodyOf, type Json, plain, SETTINGS, type Tenant, UNKNOWN_ID, useGate } from '../fixture.ts'
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

const read = ({ api }: Asker, path: string): Promise<Json> => bodyOf(api.get(path))

/** The settings after a change, which the answer to it has, too. */
async function put(by: Asker, path: string, body: Json): Promise<Json> {
  const changed = await bodyOf(by.api.put(path, body))
  expect(await read(by, path)).toEqual(changed)
  return changed
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

test('Security settings are two switches, initially off, set together or alone', async () => {
  const acme = await gate.newTenant()
  expect(await read(acme, SECURITY)).toEqual(security(false, false))
  for (const [body, expected] of [
    [security(true, true), security(true, true)],
    [security(false, true), security(false, true)],
    [{ passwordless_enabled: true }, security(true, true)],
    [{ mfa_enabled: false }, security(true, false)],
    [{ Mfa_Enabled: true, mfa: true }, security(true, false)],
  ])
    expect(await put(acme, SECURITY, body)).toEqual(expected)
  for (const name of ['passwordless_enabled', 'mfa_enabled'])
    for (const value of [null, 0, 'true']) {
      const body = { ...security(true, true), [name]: value }
      expect(await acme.api.put(SECURITY, body)).toMatchObject(plain(400, `${name}: `))
    }
  expect(await read(acme, SECURITY)).toEqual(security(true, false))
})

test('Providers are listed in a fixed order, initially off, and switched one by one', async () => {
  const acme = await gate.newTenant()
  expect(JSON.stringify(await read(acme, PROVIDERS))).toBe(JSON.stringify(listWith()))
  const more = { providers: [{ provider: 'apple', enabled: true, client_id: 'x' }], extra: 1 }
  for (const [body, ...on] of <[Json, ...string[]][]>[
    [switched(true, 'spotify', 'apple', 'github'), 'github', 'apple', 'spotify'],
    [switched(false, 'apple'), 'github', 'spotify'],
    [listWith('google'), 'google'],
    [more, 'google', 'apple'],
  ])
    expect(JSON.stringify(await put(acme, PROVIDERS, body))).toBe(JSON.stringify(listWith(...on)))
  await Promise.all(NAMES.map((name) => acme.api.put(PROVIDERS, switched(true, name))))
  expect(await read(acme, PROVIDERS)).toEqual(listWith(...NAMES))
})

test('Providers are not changed by a bad body', async () => {
  const acme = await gate.newTenant()
  await put(acme, PROVIDERS, switched(true, 'google'))
  const google = { provider: 'google', enabled: false }
  for (const [field, providers] of <[string, Json][]>[
    ...[undefined, google, [], [google, google]].map((value) => ['providers', value]),
    ['providers.0.provider', [{ enabled: false }]],
    ['providers.0.enabled', [{ provider: 'google', enabled: 'false' }]],
    ...['google-tenant', 'GitHub', '', '__proto__', null].map((provider) => [
      ...['providers.1.provider', [google, { provider, enabled: true }]],
    ]),
  ])
    expect(await acme.api.put(PROVIDERS, { providers })).toMatchObject(plain(400, `${field}: `))
  expect(await read(acme, PROVIDERS)).toEqual(listWith('google'))
})

test('The public providers of a tenant are on and have a client, like the buttons of flows', async () => {
  const acme = await gate.newTenant()
  const pathOf = (id: string) => `/public/gate/providers/${id}`
  const offered = async (headers = {}) => (await gate.app.raw(pathOf(acme.id), { headers })).body
  expect(await offered()).toEqual({ providers: [] })
  await put(acme, PROVIDERS, switched(true, 'twitch', 'google', 'discord', 'github'))
  const providers = ['google', 'discord', 'twitch']
  expect(await offered()).toEqual({ providers })
  expect(await offered({ authorization: 'Bearer garbage' })).toEqual({ providers })
  for (const kind of ['login', 'registration']) {
    const { nodes } = (await gate.app.client(acme.key).get(`/v1/gate/auth/${kind}`)).body.ui
    const buttons = nodes.filter(({ group }: Json) => group === 'oidc')
    expect(buttons.map(({ attributes }: Json) => attributes.value)).toEqual(providers)
  }
  for (const path of [pathOf(acme.id), '/public/gate/schemas/user']) {
    const { status, headers } = await gate.app.raw(path)
    expect([status, headers.get('access-control-allow-origin')]).toEqual([200, '*'])
  }
  const refused = await gate.app.raw(pathOf(acme.id), { method: 'POST' })
  expect(refused).toMatchObject(plain(405, 'GET'))
  const near = [`${acme.id}%20`, `${acme.id}%00`, acme.id.toUpperCase(), acme.id.slice(0, -1)]
  for (const wrong of [UNKNOWN_ID, '%00', '%zz', "'%20or%201=1--", '__proto__', ...near]) {
    const answer = await gate.app.raw(pathOf(wrong))
    expect(answer).toMatchObject({ status: 404, body: { error: 'tenant not found' } })
    expect(answer.headers.get('www-authenticate')).toBeNull()
  }
})

const list = (...return_urls: unknown[]) => ({ return_urls })
const numbered = (count: number) =>
  Array.from({ length: count }, (_, n) => `https://app.example.com/${n}`)
const ofLength = (length: number) => 'https://app.example.com/'.padEnd(length, 'x')

test('Return URLs are replaced as a whole, in their spelling and order, without duplicates', async () => {
  const acme = await gate.newTenant()
  expect(await read(acme, RETURN_URLS)).toEqual(list())
  const urls = [
    ...['https://b.example.com/Path', 'http://localhost:3000/', 'HTTPS://A.example.com'],
    ...['https://app.example.com:8443/x', 'http://127.0.0.1:5173/', 'http://[::1]:3000/'],
    ...['https://bücher.example/größe', 'https://app.example.com/a@b', ofLength(500)],
    'https://app.example.com/%3Fa',
  ]
  for (const [sent, kept] of [
    [[...urls, ...urls], urls],
    [numbered(100), numbered(100)],
    [[], []],
  ] as const)
    expect(await put(acme, RETURN_URLS, list(...sent))).toEqual(list(...kept))
})

test('A bad return URL is refused, and the others stay', async () => {
  const acme = await gate.newTenant()
  const kept = await put(acme, RETURN_URLS, list('https://kept.example.com/'))
  for (const url of [
    ...['', '/welcome', '//app.example.com/', 'javascript:alert(1)', 'data:text/html,x'],
    ...['javascript://app.example.com/%0aalert(1)', 'myapp://callback', 'https:app.example.com'],
    ...['https:\\\\app.example.com', 'https://', 'https://app.example.com:99999/'],
    ...['https://*.example.com/\u0000', ' https://app.example.com/', 'https://app.example.com/ '],
    ...['https://app.exa\tmple.com/', 'https://app.example.com/\u007f', ofLength(501), null],
    ...['https://app.example.com\\.evil.example/', 'https://user@app.example.com/'],
    ...['https://:secret@app.example.com/', 'https://app.example.com/?a=b', { url: 'https://a.b' }],
    ...['https://app.example.com?', 'https://app.example.com/#'],
  ]) {
    const answer = await acme.api.put(RETURN_URLS, list('https://good.example.com/', url))
    expect(answer).toMatchObject(plain(400, 'return_urls.1: '))
  }
  for (const body of [list(...numbered(101)), {}, { return_urls: null }, { return_urls: 'x' }])
    expect(await acme.api.put(RETURN_URLS, body)).toMatchObject(plain(400, 'return_urls: '))
  expect(await read(acme, RETURN_URLS)).toEqual(kept)
})

/** One change of each part of the settings. */
const CHANGES: [path: string, body: Json][] = [
  [PROVIDERS, switched(true, 'github')],
  [SECURITY, security(true, true)],
  [RETURN_URLS, { return_urls: ['https://app.example.com/'] }],
  [POLICIES, { policies: 'permit(principal, action, resource);' }],
]

const partsOf = (by: Asker): Promise<Json[]> => Promise.all(CHANGES.map(([path]) => read(by, path)))

test('The parts of the settings change independently, for one tenant, and are audited', async () => {
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
  const { entries } = gate.app.platform.audit.list({ tenantId: acme.id, limit: 100 })
  const actions = entries.map(({ action }) => action).filter((one) => one.endsWith('.changed'))
  const parts = ['policies', 'return_urls', 'security', 'providers']
  expect(actions).toEqual(parts.map((part) => `${part}.changed`))

  await Promise.all(CHANGES.map(([path, body]) => other.api.put(path, body)))
  for (const [n, part] of (await partsOf(other)).entries()) expect(part).not.toEqual(initial[n])
})

test('All processes have the same settings, also when they change them at once', async () => {
  const acme = await gate.newTenant()
  await using next = await besides(gate, acme.key)
  const initial = await partsOf(acme)
  for (const [path] of CHANGES) await next.get(path)
  for (const [n, [path, body]] of CHANGES.entries()) {
    await next.put(path, body)
    expect(await read(acme, path)).toEqual((await next.get(path)).body)
    expect(await read(acme, path)).not.toEqual(initial[n])
  }
  await Promise.all([
    acme.api.put(SECURITY, { mfa_enabled: false }),
    next.put(SECURITY, { passwordless_enabled: false }),
  ])
  expect(await read(acme, SECURITY)).toEqual(security(false, false))
  expect((await next.get(SECURITY)).body).toEqual(security(false, false))
})
