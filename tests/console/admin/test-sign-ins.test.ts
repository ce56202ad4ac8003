import { afterAll, expect, test } from 'bun:test'
import { ALL_PROVIDERS, type AnyProvider, type ProviderName } from '../../../src/config/index.ts'
import { newHttpBrowser } from '../../support/http-browser.ts'
import { startCertifiedProvider } from '../../support/social/certified.ts'
import {
  type Account,
  type Answers,
  type Arrival,
  newAccount,
  startProviders,
  type Tamper,
  walk,
  withParams,
} from '../../support/social/index.ts'
import { audited, MINUTE, pagesOf, type SignedIn, useConsole } from '../fixture.ts'

// The certified provider has a clock of its own.
const app = await useConsole({ start: new Date().toISOString() })
const admin = await app.newAdmin()
const fakes = startProviders({ clock: app.clock })
const certified = await startCertifiedProvider()
afterAll(async () => {
  certified[Symbol.dispose]()
  await fakes.stop()
})

const pageOf = (id: AnyProvider) => `/installation/providers/${id}`
const callbackOf = (id: AnyProvider) => app.gate.callbackUrl(id)
/** Providers for operators have the apps, and so the fakes, of those for users. */
const fakeOf = (id: AnyProvider) => id.replace('-tenant', '') as ProviderName

const SETTINGS = ['clientId', 'clientSecret', 'baseUrl', 'teamId', 'keyId', 'privateKey'] as const
const snake = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** Saves what a fake provider says, with changes. */
async function configure(id: AnyProvider, changes: Record<string, string> = {}) {
  fakes.allowRedirect(callbackOf(id))
  const given = fakes.providerConfig(fakeOf(id))
  const fields = SETTINGS.flatMap((name) => (given[name] ? [[snake(name), `${given[name]}`]] : []))
  const { status } = await admin.send(pageOf(id), { ...Object.fromEntries(fields), ...changes })
  expect(status).toBe(303)
}

/** Presses the button, and answers with the address that the browser goes to. */
async function leave(id: AnyProvider, who: SignedIn = admin): Promise<string> {
  const page = await who.send(`${pageOf(id)}/sign-in`)
  const [, url = ''] = /^0; url=(.+)$/.exec(page.headers.get('refresh') ?? '') ?? []
  page.says(`Continue to ${new URL(url).host}`)
  return url
}

/** What the browser brings back once `account` has agreed. */
async function arrive(
  id: AnyProvider,
  {
    account = newAccount(),
    press = 'allow',
    who = admin,
  }: { account?: Account; press?: 'allow' | 'deny'; who?: SignedIn } = {},
): Promise<Arrival> {
  fakes.signInAs(account)
  return walk(await leave(id, who), { to: callbackOf(id), press })
}

async function callback(
  id: AnyProvider,
  { method, params }: Arrival,
  who: Pick<SignedIn, 'open' | 'send'> = admin,
) {
  const path = new URL(callbackOf(id)).pathname
  if (method === 'GET') return who.open(`${path}?${params}`)
  const { location } = await who.send(path, [...params])
  return who.open(`${location}`.replace(new URL(callbackOf(id)).origin, ''))
}

/** The page with the result. */
async function result(id: AnyProvider, arrival: Arrival) {
  const back = await callback(id, arrival)
  expect([back.status, back.location]).toEqual([303, `/console${pageOf(id)}`])
  return admin.open(pageOf(id))
}

const stored = () => app.db.client.query('select * from gate_test_sign_ins').all()

/** Everything that a sign-in could leave behind. */
const traces = () =>
  ['identities', 'sessions', 'sign_ins', 'social_links', 'flows', 'round_trips', 'codes'].map(
    (table) => app.db.client.query(`select * from gate_${table}`).all(),
  )

test.each([...ALL_PROVIDERS])(
  'A test sign-in at %s shows the account, and leaves nothing behind',
  async (id) => {
    await configure(id)
    const account = newAccount({ name: 'Ada Lovelace' })
    const before = traces()
    const arrival = await arrive(id, { account })
    ;(await admin.open(pageOf(id))).says('Sign-in not finished')
    const page = await result(id, arrival)
    page.says('accepts the client and its code', account.id, `${account.email}`, 'Ada Lovelace')
    expect(page.text.includes('not stored')).toBe(!id.endsWith('-tenant'))
    const { code = '', state = '' } = Object.fromEntries(arrival.params)
    page.omits('class="shape bad"', code, state)
    for (const text of [JSON.stringify(stored()), ...app.log])
      for (const secret of [code, state, `${account.email}`]) expect(text).not.toContain(secret)
    expect(traces()).toEqual(before)
    expect(audited(app, 'provider.tested').at(-1)).toMatchObject({
      actor_id: admin.id,
      object: `provider:${id}`,
      detail: expect.stringContaining('"by":"sign_in"'),
    })
  },
)

test('A certified provider is tested in a browser, from the button to the result', async () => {
  const { clientId, clientSecret, baseUrl } = certified.providerConfig('gitlab')
  const account = newAccount({ isVerified: false })
  certified.signInAs(account)
  await admin.send(pageOf('gitlab'), {
    client_id: clientId,
    client_secret: clientSecret,
    base_url: baseUrl,
  })
  const browser = newHttpBrowser()
  browser.plant(app.url, `${admin.cookie}; Path=/`)
  const page = await browser.visit(`${app.url}/console${pageOf('gitlab')}`)
  const leave = async () => browser.follow(await browser.press(page, 'Sign in to test'), 'Continue')
  // Without a registered redirect URL, the provider doesn't lead back.
  expect((await leave()).status).toBe(400)
  expect((await browser.visit(page.url)).text).toContain('register exactly the one below')
  certified.allowRedirect(callbackOf('gitlab'))
  const consent = await leave()
  const back = await browser.press(consent, 'Continue')
  expect(back.url).toBe(page.url)
  for (const words of [account.id, `${account.email}`, "doesn't confirm the address"])
    expect(back.text).toContain(words)
})

const PERSON = '/github/api/v3/user'
const refused = (status: number) => () => Response.json({ message: 'no' }, { status })

test.each<
  [
    string,
    AnyProvider,
    string[],
    {
      settings?: Record<string, string>
      press?: 'deny'
      brought?: Record<string, string>
      tamper?: Tamper
      answers?: Answers
      scopes?: string[]
      account?: Account
    },
  ]
>([
  ['a user who cancels', 'google', ['denied or cancelled (access_denied'], { press: 'deny' }],
  [
    'another redirect URL',
    'github',
    ['The redirect URL is not registered (redirect_uri_mismatch: It <must> match'],
    { brought: { error: 'redirect_uri_mismatch', error_description: 'It <must> match' } },
  ],
  [
    'a scope that the app lacks',
    'discord',
    ['may not ask for these scopes: identify email (invalid_scope)'],
    { brought: { error: 'invalid_scope' } },
  ],
  [
    'an error of the provider',
    'google',
    ['reports an error (server_error). Check the app'],
    { brought: { error: 'server_error' } },
  ],
  [
    'a wrong secret',
    'google',
    ['The client is rejected (invalid_client', 'Check ID and secret'],
    { settings: { client_secret: 'wrong-secret' } },
  ],
  [
    'a wrong secret in words of its own',
    'spotify',
    ['The client is rejected (invalid_client'],
    { settings: { client_secret: 'wrong-secret' } },
  ],
  ['another code', 'github', ['The code is rejected (invalid_grant'], { brought: { code: 'x' } }],
  [
    'a token URL that is down',
    'github',
    ['127.0.0.1:1 cannot be reached', 'Check the credentials and the URLs'],
    { settings: { token_url: 'http://127.0.0.1:1/token' } },
  ],
  [
    'an ID token for another client',
    'google',
    ['accepts the client and its code', '"aud"', 'Check the issuer, the key set URL and the clock'],
    { tamper: ({ claims }) => void Object.assign(claims, { aud: 'another' }) },
  ],
  [
    'a profile that it keeps back',
    'github',
    ['responded with status 403. Check the user info URL', 'scopes: read:user user:email'],
    { answers: { [PERSON]: refused(403) } },
  ],
  [
    'an address that it keeps back',
    'github',
    ['shares no address', 'Requested scopes: read:user user:email; granted: read:user.'],
    { scopes: ['read:user'] },
  ],
  [
    'an unverified address',
    'google',
    ["doesn't confirm the address", 'Not verified'],
    { account: newAccount({ isVerified: false }) },
  ],
])('%s is told by its step, with what to do', async (_, id, words, of) => {
  await configure(id, of.settings)
  const before = traces()
  fakes.grantScopes(of.scopes)
  fakes.tamper(of.tamper)
  fakes.answer(of.answers)
  const arrival = await arrive(id, of)
  const { params } = arrival
  if (of.brought?.error) params.delete('code')
  const page = await result(id, { ...arrival, params: withParams(params, of.brought ?? {}) })
  fakes.grantScopes()
  fakes.tamper()
  fakes.answer()
  page.says(...words).omits('wrong-secret', params.get('code') ?? 'x-x', '<must>')
  const isLimited = of.scopes !== undefined || of.account !== undefined
  expect(page.html.includes('class="shape bad"')).toBe(!isLimited)
  expect(page.text.includes('Account ID')).toBe(isLimited)
  expect(traces()).toEqual(before)
  expect(audited(app, 'provider.tested').at(-1)?.detail).toContain(isLimited ? 'limited' : 'failed')
})

test('Without a usable configuration, the browser stays and the connection test says why', async () => {
  await admin.send(`${pageOf('slack')}/remove`)
  const page = await admin.send(`${pageOf('slack')}/sign-in`)
  page.says('No client is configured')
  expect([page.status, page.headers.get('refresh')]).toEqual([200, null])
})

test('A callback works once, for the session and the provider that the test began with', async () => {
  await configure('google')
  const { as, gate } = await app.newTenant()
  const account = newAccount()
  const user = { schema_id: 'user', traits: { email: account.email } }
  expect((await gate.post('/v1/gate/identities', user)).status).toBe(201)
  const others = [pagesOf(app), await as('owner'), await app.newAdmin(), await app.sessionOf(admin)]
  const arrival = await arrive('google', { account })
  const changed = { ...arrival, params: withParams(arrival.params, { state: 'another' }) }
  const [before, audits] = [traces(), audited(app, 'provider.tested').length]
  const isRefused = async (...of: Parameters<typeof callback>) => {
    const { status, text, location } = await callback(...of)
    expect([status, location]).toEqual([403, null])
    expect(text).toContain('Something went wrong')
  }
  for (const who of others) await isRefused('google', arrival, who)
  await isRefused('gitlab', arrival)
  await isRefused('google', changed)
  expect(audited(app, 'provider.tested')).toHaveLength(audits)
  const backs = await Promise.all([1, 2, 3].map(() => callback('google', arrival)))
  expect(backs.map(({ status }) => status).toSorted()).toEqual([303, 403, 403])
  await isRefused('google', arrival)
  expect(traces()).toEqual(before)
  expect(audited(app, 'provider.tested')).toHaveLength(audits + 1)
  // The result is for the session that tested, too.
  ;(await admin.open(pageOf('google'))).says('Account ID')
  for (const who of await Promise.all([app.newAdmin(), app.sessionOf(admin)]))
    (await who.open(pageOf('google'))).omits('Account ID')
})

test('An admin who lost the right, or the session, comes back to nothing', async () => {
  await configure('google')
  const former = await app.newAdmin()
  const ended = await app.newAdmin()
  const arrivals = [await arrive('google', { who: former }), await arrive('google', { who: ended })]
  await admin.send(`/installation/operators/${former.id}/take-admin`)
  await ended.end()
  for (const [at, who] of [former, ended].entries())
    expect((await callback('google', arrivals[at] as Arrival, who)).status).toBe(403)
})

test('A test and its result last half an hour, and a newer test or other settings end them', async () => {
  await configure('google')
  const [replaced, inTime] = [await arrive('google'), await arrive('google')]
  expect((await callback('google', replaced)).status).toBe(403)
  app.clock.jump(30 * MINUTE - 1)
  ;(await result('google', inTime)).says('Account ID')
  app.clock.jump(30 * MINUTE - 1)
  ;(await admin.open(pageOf('google'))).says('Account ID')
  app.clock.jump(1)
  ;(await admin.open(pageOf('google'))).omits('Account ID', 'Test sign-in')
  const late = await arrive('google')
  app.clock.jump(30 * MINUTE)
  expect((await callback('google', late)).status).toBe(403)
  app.clock.jump(1)
  await app.platform.retention.sweep()
  expect(stored()).toEqual([])
  const stale = await arrive('google')
  await configure('google', { client_secret: '' })
  expect((await callback('google', stale)).status).toBe(403)
  ;(await admin.open(pageOf('google'))).omits('Test sign-in')
})
