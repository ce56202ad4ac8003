import { expect, test } from 'bun:test'
import { createSessionCookie } from '../../src/console/operators/session-cookie.ts'
import { addressOf } from '../support/address.ts'
import { newHttpBrowser } from '../support/http-browser.ts'
import { newOperator } from '../support/operator.ts'
import {
  ACCOUNT,
  bootConsole,
  DAY,
  MINUTE,
  pagesOf,
  SYSTEM,
  UNKNOWN_ID,
  useConsole,
} from './fixture.ts'
import { routesIn } from './one-of-each.ts'

const HTTP = 'http://example.com'
const HTTPS = 'https://example.com'
const BELOW = 'https://example.com/gate'
const OWN = 'Path=/; HttpOnly; SameSite=Lax'

const app = await useConsole()

test.each([
  [HTTP, [`identity_session=token; ${OWN}`]],
  [
    HTTPS,
    [
      `__Host-identity_session=token; ${OWN}; Secure`,
      `identity_session=token; ${OWN.replace('/', '/dashboard/clockwork')}; Secure`,
    ],
  ],
  [
    `${BELOW}/`,
    [
      `__Secure-identity_session=token; ${OWN.replace('/', '/gate')}; Secure`,
      `identity_session=token; ${OWN.replace('/', '/gate/dashboard/clockwork')}; Secure`,
    ],
  ],
])(
  'The session cookie at %s is for this installation only, and not for scripts',
  (baseUrl, cookies) => {
    const cookie = createSessionCookie({ baseUrl: () => baseUrl })
    expect(cookie.sessionCookies('token')).toEqual(cookies)
    expect(cookie.expiredCookies()).toEqual(
      cookies.map((one) => `${one.replace('=token', '=')}; Max-Age=0`),
    )
    expect(cookie.signInState('state')).toBe(
      cookies[0]?.replace('identity_session=token', 'gatehouse_login=state') ?? '',
    )
  },
)

test('The session cookie can be replaced after base_url changed to http', () => {
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

test('The session cookie over https is not one that a sibling domain has set', async () => {
  await using secure = await bootConsole({ flags: { 'server-base-url': HTTPS } })
  const ada = await newOperator(secure, { roles: { [(await secure.tenant()).id]: 'owner' } })
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

test('The session cookie is new at each sign-in, whatever was set before', async () => {
  const eve = await (await newOperator(app, { isAdmin: true })).signIn()
  const { email, name: displayName, password } = ACCOUNT
  const account = { email, displayName, password, isVerified: true }
  await app.gate.gateOperators.create(SYSTEM, account)
  const operator = newHttpBrowser()
  const login = await operator.visit(`${app.url}/console/login`)
  operator.plant(app.url, `identity_session=${eve.token}; Path=/`)
  await operator.press(login, 'method=password', { identifier: email, password })
  const cookie = operator.cookie('identity_session')
  expect([cookie?.startsWith('gat_st_'), cookie === eve.token]).toEqual([true, false])
  expect((await operator.visit(`${app.url}/console/account`)).text).toContain(email)
})

test('Every form is refused when another site sends it', async () => {
  const { id, owner } = await app.newTenant()
  const admin = await app.signIn({ isAdmin: true, roles: { [id]: 'member' } })
  const forms = await routesIn(app, 'POST')
  expect(forms.length).toBeGreaterThan(50)
  for (const [n, path] of forms.entries())
    for (const { headers } of [owner, admin]) {
      const [name, value] = n % 2 ? ['origin', 'null'] : ['sec-fetch-site', 'cross-site']
      const init = { method: 'POST', headers: { ...headers, [name]: value } }
      const { status } = await app.raw(addressOf(id, path.replaceAll(/:\w+/g, UNKNOWN_ID)), init)
      expect([path, status]).toEqual([path, 403])
    }
})

type Operator = Awaited<ReturnType<typeof newOperator>>
type Happen = (o: Operator, a: string, b: string) => unknown

/** What happens to an operator while a session is open that has not chosen a tenant. */
test.each<[string, boolean, string[], Happen, string]>([
  ['joins another', false, ['a'], (o, _, b) => o.setRole(b, 'owner'), 'a'],
  [
    'has another renamed',
    false,
    ['a', 'b'],
    (_, __, b) => app.platform.tenants.change(SYSTEM, b, { name: 'AAA' }),
    'a',
  ],
  ['is removed', false, ['a', 'b'], (o, a) => o.leave(a), 'none'],
  ['is an admin and joins', true, [], (o, a) => o.setRole(a, 'owner'), 'none'],
  ['has no tenant and joins', false, [], (o, a) => o.setRole(a, 'owner'), 'a'],
])(
  'A session stays where it is when its operator %s',
  async (_, isAdmin, joined, happen, expected) => {
    const [a, b] = [(await app.tenant('Mine')).id, (await app.tenant('Also mine')).id]
    const tenants: Record<string, string> = { a, b }
    const operator = await newOperator(app, { isAdmin })
    for (const name of joined) {
      await operator.setRole(tenants[name] as string, 'owner')
      app.clock.jump(1)
    }
    const { api } = await operator.signIn()
    await happen(operator, a, b)
    const job = { name: 'report', schedule: '0 3 * * *', url: 'http://127.0.0.1/' }
    const { status, body } = await api.post('/dashboard/clockwork/jobs', job)
    expect(status === 201 ? body.tenant_id : status).toBe(tenants[expected] ?? 403)
  },
)

const enter = (path: string, fields = {}, at = app) =>
  at.raw(path, { method: 'POST', body: new URLSearchParams(fields) })

test('Links cannot be guessed: all wrong ones look the same; set-up works once, even at once', async () => {
  await using fresh = await bootConsole()
  const { links, isSetUp } = fresh.operators
  const issued = await links.issueSetUp()
  const good = issued.slice(0, -1)
  const last = issued.endsWith('A') ? 'E' : 'A'
  const guesses = ['x', good, `${good}!`, good + last, 'A'.repeat(43), '%00', 'a'.repeat(5000)]
  for (const path of ['/console/link', '/console/invitation', '/setup']) {
    const answers = await Promise.all(guesses.map((guess) => fresh.raw(`${path}/${guess}`)))
    const shown = answers.map(({ status, body }) => `${status} ${body}`)
    expect([new Set(shown).size, shown[0]?.slice(0, 3)]).toEqual([1, '404'])
  }
  const answers = await Promise.all(
    [issued, await links.issueSetUp()].map((token, n) => {
      const fields = { ...ACCOUNT, email: `${n}@example.com`, tenant: 'Acme' }
      return enter(`/setup/${token}`, fields, fresh)
    }),
  )
  expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 404])
  expect([fresh.platform.tenants.list().length, isSetUp()]).toEqual([1, true])
})

test('A link to sign in works once, even if it is opened three times at once', async () => {
  const { id } = await newOperator(app, { isAdmin: true })
  const token = await app.operators.links.issueSignIn(SYSTEM, id)
  const answers = await Promise.all([1, 2, 3].map(() => enter(`/console/link/${token}`)))
  expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 404, 404])
  expect(app.gate.gateOperators.sessions.list(id)).toHaveLength(1)
})

test('A link to sign in is no other kind, lasts ten minutes, needs an active account, and replaces no second factor', async () => {
  const operator = await newOperator(app)
  const issue = () => app.operators.links.issueSignIn(SYSTEM, operator.id)
  const token = await issue()
  for (const path of ['/setup', '/console/invitation'])
    expect((await enter(`${path}/${token}`, { ...ACCOUNT, tenant: 'A' })).status).toBe(404)
  // Opening the link, as an email program does, does not use it up.
  expect((await app.raw(`/console/link/${token}`)).status).toBe(200)
  await operator.enrol()
  const { headers } = await enter(`/console/link/${token}`)
  const { open } = pagesOf(app, headers.getSetCookie()[0]?.split(';')[0])
  expect((await open('/account')).location).toContain('/login')
  const unused = await issue()
  app.clock.jump(10 * MINUTE)
  expect((await app.raw(`/console/link/${unused}`)).status).toBe(404)
  await operator.deactivate()
  const late = await enter(`/console/link/${await issue()}`)
  expect([late.status, late.headers.get('set-cookie')]).toEqual([403, null])
})

test('An invitation lets one in, even at once, and expires after seven days', async () => {
  const { id: tenantId } = await app.tenant()
  const invite = async (email: string) => {
    const inviter = { actor: SYSTEM, id: 'inviter', name: 'Ada' }
    const wanted = { email, role: 'owner' } as const
    return new URL((await app.operators.invitations.invite(inviter, tenantId, wanted)).url).pathname
  }
  const path = await invite('new@example.com')
  const operators = [await app.signIn(), await app.signIn()]
  const answers = await Promise.all(operators.map(({ send, id }) => send(path, { account: id })))
  expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 404])
  const late = await invite('late@example.com')
  app.clock.jump(7 * DAY)
  expect((await enter(late, ACCOUNT)).status).toBe(404)
  expect(app.operators.memberships.list(tenantId)).toHaveLength(1)
})
