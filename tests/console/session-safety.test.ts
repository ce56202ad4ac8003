import { describe, expect, test } from 'bun:test'
import { createSessionCookie } from '../../src/console/operators/session-cookie.ts'
import { newHttpBrowser } from '../support/http-browser.ts'
import { newOperator } from '../support/operator.ts'
import {
  ACCOUNT,
  bootConsole,
  type Console,
  DAY,
  pagesOf,
  SYSTEM,
  servedApp,
  UNKNOWN_ID,
  useConsole,
} from './fixture.ts'

const HTTP = 'http://example.com'
const HTTPS = 'https://example.com'
const BELOW = 'https://example.com/gate'

const app = await useConsole()

describe('The session cookie', () => {
  test.each([
    [HTTP, ['identity_session=token; Path=/; HttpOnly; SameSite=Lax']],
    [
      HTTPS,
      [
        '__Host-identity_session=token; Path=/; HttpOnly; SameSite=Lax; Secure',
        'identity_session=token; Path=/dashboard/clockwork; HttpOnly; SameSite=Lax; Secure',
      ],
    ],
    [
      `${BELOW}/`,
      [
        '__Secure-identity_session=token; Path=/gate; HttpOnly; SameSite=Lax; Secure',
        'identity_session=token; Path=/gate/dashboard/clockwork; HttpOnly; SameSite=Lax; Secure',
      ],
    ],
  ])('at %s is for this installation only, and not for scripts', (baseUrl, cookies) => {
    const cookie = createSessionCookie({ baseUrl: () => baseUrl })
    expect(cookie.sessionCookies('token')).toEqual(cookies)
    expect(cookie.expiredCookies()).toEqual(
      cookies.map((one) => `${one.replace('=token', '=')}; Max-Age=0`),
    )
    expect(cookie.signInState('state')).toBe(
      cookies[0]?.replace('identity_session=token', 'gatehouse_login=state') ?? '',
    )
  })

  test('can be replaced after base_url changed to http', () => {
    const jarAt = (baseUrl: string) =>
      createSessionCookie({ baseUrl: () => baseUrl })
        .sessionCookies('token')
        .map((one) => ({
          name: one.split('=')[0],
          path: /Path=([^;]+)/.exec(one)?.[1] ?? '',
          isSecure: one.endsWith('; Secure'),
        }))
    for (const before of [HTTPS, BELOW].flatMap(jarAt))
      for (const after of [HTTP, `${HTTP}/gate`].flatMap(jarAt)) {
        // draft-ietf-httpbis-rfc6265bis, section 5.7: http can't overwrite a Secure cookie.
        const isBelow = `${after.path}/`.startsWith(`${before.path}/`)
        expect(before.isSecure && before.name === after.name && isBelow).toBe(false)
      }
  })

  test('over https is not one that a sibling domain has set', async () => {
    await using secure = await bootConsole({ flags: { 'server-base-url': HTTPS } })
    const { id: tenantId } = await secure.tenant()
    const ada = await newOperator(secure, { roles: { [tenantId]: 'owner' } })
    const token = await secure.operators.links.issueSignIn(SYSTEM, ada.id)
    const entered = await secure.raw(`/console/link/${token}`, { method: 'POST' })
    const [own = '', named = ''] = entered.headers.getSetCookie().map((one) => one.split(';')[0])
    const planted = `identity_session=${(await secure.signIn()).token}`
    const ask = (path: string, cookie: string) => secure.raw(path, { headers: { cookie } })

    expect((await ask('/console/account', planted)).status).toBe(401)
    expect((await ask('/console/account', `${planted}; ${own}`)).body).toContain(ada.email)
    // The planted session belongs to no tenant and would be refused.
    for (const cookie of [`${planted}; ${own}`, named])
      expect((await ask('/dashboard/clockwork/jobs', cookie)).status).toBe(200)
  })

  test('is new at each sign-in, whatever was set before', async () => {
    await using served = await servedApp()
    const eve = await (await newOperator(served)).signIn()
    const { email, name: displayName, password } = ACCOUNT
    const account = { email, displayName, password, isVerified: true }
    await served.gate.gateOperators.create(SYSTEM, account)
    await newOperator(served, { isAdmin: true })
    const operator = newHttpBrowser()
    const login = await operator.visit(`${served.url}/console/login`)
    operator.plant(served.url, `identity_session=${eve.token}; Path=/`)
    await operator.press(login, 'method=password', { identifier: email, password })
    expect(operator.cookie('identity_session')).toStartWith('gat_st_')
    expect(operator.cookie('identity_session')).not.toBe(eve.token)
    expect((await operator.visit(`${served.url}/console/account`)).text).toContain(email)
  })
})

test.each([
  ['cross-site', { 'sec-fetch-site': 'cross-site' }],
  ['of a sibling domain', { 'sec-fetch-site': 'same-site' }],
  ['of another origin', { origin: 'https://evil.example' }],
  ['of a hidden origin', { origin: 'null' }],
  ['of another port', { origin: 'http://localhost:9999' }],
  ['with contradicting headers', { origin: 'https://evil.example', 'sec-fetch-site': 'none' }],
])('Every form is refused when it is %s', async (_, from) => {
  const { owner } = await app.newTenant()
  const admin = await app.newAdmin()
  const forms = app.app.routes.filter(
    ({ method, path }) => method === 'POST' && /^\/(console|setup)(\/|$)/.test(path),
  )
  expect(forms.length).toBeGreaterThan(50)
  for (const { path } of forms)
    for (const { headers } of [owner, admin]) {
      const init = { method: 'POST', headers: { ...headers, ...from } }
      const { status } = await app.raw(path.replaceAll(/:\w+/g, UNKNOWN_ID), init)
      expect([path, status]).toEqual([path, 403])
    }
})

test('A changed role or a lost membership counts for the next request', async () => {
  const [acme, other] = [await app.newTenant(), await app.newTenant()]
  const operator = await app.signIn({ roles: { [acme.id]: 'owner', [other.id]: 'owner' } })
  await operator.actIn(acme.id)
  const statuses = async (...pages: string[]) => {
    const found = []
    for (const page of pages) found.push((await operator.open(`/console/${page}`)).status)
    return found
  }
  expect(await statuses('keys', 'usage')).toEqual([200, 200])
  await operator.setRole(acme.id, 'viewer')
  expect(await statuses('keys', 'usage')).toEqual([403, 200])
  await operator.leave(acme.id)
  expect(await statuses('usage', 'account')).toEqual([403, 200])
  expect((await operator.send('/console/switch', { to: acme.id })).status).toBe(403)
  expect((await operator.send('/console/switch', { to: other.id })).status).toBe(303)
  expect(await statuses('usage')).toEqual([200])
})

/** What happens to an operator while a session is open that has not chosen a tenant. */
const EVENTS: [
  string,
  object,
  string[],
  (a: string, b: string) => (o: Operator) => unknown,
  string,
][] = [
  ['joins another', {}, ['first'], (_, b) => (o) => o.setRole(b, 'owner'), 'first'],
  [
    'has another renamed',
    {},
    ['first', 'second'],
    (_, b) => () => app.platform.tenants.change(SYSTEM, b, { name: 'AAA' }),
    'first',
  ],
  ['is removed', {}, ['first', 'second'], (a) => (o) => o.leave(a), 'none'],
  ['is an admin and joins', { isAdmin: true }, [], (a) => (o) => o.setRole(a, 'owner'), 'none'],
  ['has no tenant and joins', {}, [], (a) => (o) => o.setRole(a, 'owner'), 'first'],
]
type Operator = Awaited<ReturnType<typeof newOperator>>

test.each(EVENTS)(
  'A session stays in its tenant when its operator %s',
  async (_, options, memberships, happen, expected) => {
    const tenants: Record<string, string> = {
      first: (await app.tenant('Mine')).id,
      second: (await app.tenant('Also mine')).id,
    }
    const operator = await newOperator(app, options)
    for (const name of memberships) {
      await operator.setRole(tenants[name] as string, 'owner')
      app.clock.jump(1)
    }
    const { api } = await operator.signIn()
    await happen(tenants.first as string, tenants.second as string)(operator)
    const job = { name: 'report', schedule: '0 3 * * *', url: 'http://127.0.0.1/' }
    const { status, body } = await api.post('/dashboard/clockwork/jobs', job)
    expect(status === 201 ? body.tenant_id : status).toBe(tenants[expected] ?? 403)
  },
)

describe('A link', () => {
  const enter = (at: Pick<Console, 'raw'>, path: string, fields = {}) =>
    at.raw(path, { method: 'POST', body: new URLSearchParams(fields) })

  test.each(['/console/link', '/console/invitation', '/setup'])(
    'of %s cannot be guessed: all wrong links look the same',
    async (path) => {
      await using fresh = await bootConsole()
      const good = (await fresh.operators.links.issueSetUp()).slice(0, -1)
      const guesses = ['x', good, `${good}!`, `${good}A`, 'A'.repeat(43), '%00', 'a'.repeat(5000)]
      const answers = await Promise.all(guesses.map((guess) => fresh.raw(`${path}/${guess}`)))
      const shown = answers.map(({ status, body }) => `${status} ${body}`)
      expect([new Set(shown).size, shown[0]?.slice(0, 3)]).toEqual([1, '404'])
    },
  )

  test('to sign in works once, even if it is opened three times at once', async () => {
    const { id } = await newOperator(app, { isAdmin: true })
    const token = await app.operators.links.issueSignIn(SYSTEM, id)
    const answers = await Promise.all([1, 2, 3].map(() => enter(app, `/console/link/${token}`)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 404, 404])
    expect(app.gate.gateOperators.sessions.list(id)).toHaveLength(1)
  })

  test('to set up works once, even if two are opened at once', async () => {
    await using fresh = await bootConsole()
    const { links, isSetUp } = fresh.operators
    const answers = await Promise.all(
      [await links.issueSetUp(), await links.issueSetUp()].map((token, n) =>
        enter(fresh, `/setup/${token}`, { ...ACCOUNT, email: `${n}@example.com`, tenant: 'Acme' }),
      ),
    )
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 404])
    expect([fresh.platform.tenants.list().length, isSetUp()]).toEqual([1, true])
  })

  test('to sign in is no other kind of link, and needs an active account', async () => {
    const operator = await newOperator(app)
    const issue = () => app.operators.links.issueSignIn(SYSTEM, operator.id)
    const token = await issue()
    for (const path of ['/setup', '/console/invitation'])
      expect((await enter(app, `${path}/${token}`, { ...ACCOUNT, tenant: 'A' })).status).toBe(404)
    expect((await app.raw(`/console/link/${token}`)).status).toBe(200)
    await operator.deactivate()
    const { status, headers } = await enter(app, `/console/link/${await issue()}`)
    expect([status, headers.get('set-cookie')]).toEqual([403, null])
  })

  test('to sign in does not replace the second factor', async () => {
    const operator = await newOperator(app)
    await operator.enrol()
    const token = await app.operators.links.issueSignIn(SYSTEM, operator.id)
    const { headers } = await enter(app, `/console/link/${token}`)
    const [cookie = ''] = headers.getSetCookie()
    const { open } = pagesOf(app, cookie.split(';')[0])
    expect((await open('/console/account')).location).toContain('/console/login')
  })

  test('of an invitation lets one in, even at once, and expires after seven days', async () => {
    const { id: tenantId } = await app.tenant()
    const invite = async (email: string) => {
      const inviter = { actor: SYSTEM, id: 'inviter', name: 'Ada' }
      const wanted = { email, role: 'owner' } as const
      const { url } = await app.operators.invitations.invite(inviter, tenantId, wanted)
      return new URL(url).pathname
    }
    const path = await invite('new@example.com')
    const operators = [await app.signIn(), await app.signIn()]
    const answers = await Promise.all(operators.map(({ send, id }) => send(path, { account: id })))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 404])
    const late = await invite('late@example.com')
    app.clock.jump(7 * DAY)
    expect((await enter(app, late, ACCOUNT)).status).toBe(404)
    expect(app.operators.memberships.list(tenantId)).toHaveLength(1)
  })
})
