import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createSessionCookie } from '../../src/console/operators/session-cookie.ts'
import { bootTestApp, type TestApp } from '../support/app.ts'
import { newHttpBrowser } from '../support/http-browser.ts'
import { newOperator } from '../support/operator.ts'
import { ACCOUNT, servedApp } from './console-fixture.ts'

const UNKNOWN = '01890000-0000-7000-8000-000000000000'
const SYSTEM = { kind: 'system' } as const

const HTTP = 'http://example.com'
const HTTPS = 'https://example.com'
const BELOW = 'https://example.com/gate'

describe('the cookie of a session', () => {
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
  ])('at %s is for this installation alone, and for no script', (baseUrl, given) => {
    const cookie = createSessionCookie({ baseUrl: () => baseUrl })
    expect(cookie.sessionCookies('token')).toEqual(given)
    expect(cookie.expiredCookies()).toEqual(
      given.map((one) => `${one.replace('=token', '=')}; Max-Age=0`),
    )
    expect(cookie.signInState('state')).toBe(
      given[0]?.replace('identity_session=token', 'gatehouse_login=state') ?? '',
    )
  })

  /** Without the scheme: browsers keep one jar for both. */
  const jarAt = (baseUrl: string) =>
    createSessionCookie({ baseUrl: () => baseUrl })
      .sessionCookies('token')
      .map((one) => ({
        name: one.split('=')[0],
        path: /Path=([^;]+)/.exec(one)?.[1] ?? '',
        isSecure: one.endsWith('; Secure'),
      }))

  test('can be replaced after a restart with another base_url, where browsers protect Secure ones', () => {
    for (const before of [HTTPS, BELOW])
      for (const after of [HTTP, `${HTTP}/gate`])
        for (const fresh of jarAt(after)) {
          // draft-ietf-httpbis-rfc6265bis, section 5.7: over http no cookie of this name and path is taken.
          const inTheWay = jarAt(before).filter(
            ({ name, path, isSecure }) =>
              isSecure && name === fresh.name && `${fresh.path}/`.startsWith(`${path}/`),
          )
          expect(inTheWay).toEqual([])
        }
  })

  test('over https is not what a sibling domain has planted, but programs send it by its name', async () => {
    await using app = await bootTestApp({ flags: { 'server-base-url': HTTPS } })
    const { id: tenantId } = await app.tenant()
    const ada = await newOperator(app, { email: 'ada@example.com', roles: { [tenantId]: 'owner' } })
    const token = await app.operators.links.issueSignIn(SYSTEM, ada.id)
    const entered = await app.raw(`/console/link/${token}`, { method: 'POST' })
    const [own = '', named = ''] = entered.headers.getSetCookie().map((one) => one.split(';')[0])
    const eve = await (await newOperator(app, { email: 'eve@example.com' })).signIn()
    const ask = (path: string, cookie: string) => app.raw(path, { headers: { cookie } })

    const planted = `identity_session=${eve.token}`
    expect((await ask('/console/account', planted)).status).toBe(401)
    expect((await ask('/console/account', `${planted}; ${own}`)).body).toContain('ada@example.com')
    // Eve belongs to no tenant, and would be refused.
    expect((await ask('/dashboard/clockwork/jobs', `${planted}; ${own}`)).status).toBe(200)
    expect((await ask('/dashboard/clockwork/jobs', named)).status).toBe(200)
  })

  test('is a new one at each sign-in, whatever somebody has planted before', async () => {
    await using app = await servedApp()
    const eve = await (await newOperator(app, { email: 'eve@example.com' })).signIn()
    await app.gate.gateOperators.create(SYSTEM, {
      email: ACCOUNT.email,
      displayName: ACCOUNT.name,
      password: ACCOUNT.password,
      isVerified: true,
    })
    await newOperator(app, { isAdmin: true })
    const operator = newHttpBrowser()
    const login = await operator.visit(`${app.url}/console/login`)
    operator.plant(app.url, `identity_session=${eve.token}; Path=/`)
    await operator.press(login, 'method=password', {
      identifier: ACCOUNT.email,
      password: ACCOUNT.password,
    })
    const token = operator.cookie('identity_session')
    expect(token).toStartWith('gat_st_')
    expect(token).not.toBe(eve.token)
    const account = await operator.visit(`${app.url}/console/account`)
    expect(account.text).toContain(ACCOUNT.email)
  })
})

describe('what a browser is made to send by another site', () => {
  let app: TestApp
  let headers: Record<'owner' | 'installation', Record<string, string>>
  let routes: string[]

  beforeAll(async () => {
    app = await bootTestApp()
    const { id } = await app.tenant('Acme')
    const owner = await newOperator(app, { roles: { [id]: 'owner' } })
    const admin = await newOperator(app, { isAdmin: true })
    headers = {
      owner: (await owner.signIn()).headers,
      installation: (await admin.signIn()).headers,
    }
    routes = app.app.routes
      .filter(({ method, path }) => method === 'POST' && /^\/(console|setup)(\/|$)/.test(path))
      .map(({ path }) => path.replaceAll(/:\w+/g, UNKNOWN))
  })
  afterAll(() => app.stop())

  test.each([
    ['cross-site', { 'sec-fetch-site': 'cross-site' }],
    ['of a neighbour', { 'sec-fetch-site': 'same-site' }],
    ['of another origin', { origin: 'https://evil.example' }],
    ['of an origin that is kept secret', { origin: 'null' }],
    ['of our host at another port', { origin: 'http://localhost:9999' }],
    ['of a liar', { origin: 'https://evil.example', 'sec-fetch-site': 'none' }],
  ])('is refused at every form: %s', async (_, from) => {
    expect(routes.length).toBeGreaterThan(50)
    for (const path of routes)
      for (const who of ['owner', 'installation'] as const) {
        const init = { method: 'POST', headers: { ...headers[who], ...from } }
        expect([path, (await app.raw(path, init)).status]).toEqual([path, 403])
      }
  })
})

describe('a right that changes', () => {
  /** Somebody who owns a tenant, with a form of theirs that only owners may send. */
  async function bootOwner() {
    const app = await bootTestApp()
    const [acme, other] = [await app.tenant('Acme'), await app.tenant('Other')]
    const somebody = await newOperator(app, { roles: { [acme.id]: 'owner', [other.id]: 'owner' } })
    const session = await somebody.signIn()
    await session.actIn(acme.id)
    const status = async (path: string) =>
      (await app.raw(path, { headers: session.headers })).status
    return { app, acme, other, somebody, session, status }
  }

  test('counts from the next request on: an owner who is a viewer now', async () => {
    const { app, acme, somebody, status } = await bootOwner()
    await using _ = app
    expect(await status('/console/keys')).toBe(200)
    await somebody.setRole(acme.id, 'viewer')
    expect([await status('/console/keys'), await status('/console/usage')]).toEqual([403, 200])
  })

  test('leaves no session of theirs in a tenant that they left, nor moves it to another', async () => {
    const { app, acme, other, somebody, session, status } = await bootOwner()
    await using _ = app
    await somebody.leave(acme.id)
    expect([await status('/console/usage'), await status('/console/account')]).toEqual([403, 200])
    const body = new URLSearchParams({ to: acme.id })
    const choose = { method: 'POST', headers: session.headers, body }
    expect((await app.raw('/console/switch', choose)).status).toBe(403)
    const elsewhere = { ...choose, body: new URLSearchParams({ to: other.id }) }
    expect((await app.raw('/console/switch', elsewhere)).status).toBe(303)
    expect(await status('/console/usage')).toBe(200)
  })
})

describe('a link that is good once', () => {
  const enter = (app: TestApp, path: string, fields = {}) =>
    app.raw(path, { method: 'POST', body: new URLSearchParams(fields) })

  test.each(['/console/link', '/console/invitation', '/setup'])(
    '%s is not to be guessed: all wrong ones look the same',
    async (path) => {
      await using app = await bootTestApp()
      const good = (await app.operators.links.issueSetUp()).slice(0, -1)
      const guesses = ['x', good, `${good}!`, `${good}A`, 'A'.repeat(43), '%00', 'a'.repeat(5000)]
      const answers = await Promise.all(guesses.map((guess) => app.raw(`${path}/${guess}`)))
      const shown = answers.map(({ status, body }) => `${status} ${body}`)
      expect(new Set(shown).size).toBe(1)
      expect(shown[0]).toStartWith('404')
    },
  )

  test('lets one in, however many press at once', async () => {
    await using app = await bootTestApp()
    const { id } = await newOperator(app, { isAdmin: true })
    const token = await app.operators.links.issueSignIn(SYSTEM, id)
    const answers = await Promise.all([1, 2, 3].map(() => enter(app, `/console/link/${token}`)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 404, 404])
    expect(app.gate.gateOperators.sessions.list(id)).toHaveLength(1)
  })

  test('sets up one installation, however many press at once', async () => {
    await using app = await bootTestApp()
    const tokens = [await app.operators.links.issueSetUp(), await app.operators.links.issueSetUp()]
    const answers = await Promise.all(
      tokens.map((token, n) =>
        enter(app, `/setup/${token}`, { ...ACCOUNT, email: `${n}@example.com`, tenant: 'Acme' }),
      ),
    )
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 404])
    expect(app.platform.tenants.list()).toHaveLength(1)
    expect(app.operators.isSetUp()).toBe(true)
  })

  test('is for what it was made for: one to sign in sets nothing up, and invites nobody', async () => {
    await using app = await bootTestApp()
    const { id } = await newOperator(app)
    const token = await app.operators.links.issueSignIn(SYSTEM, id)
    for (const path of ['/setup', '/console/invitation'])
      expect((await enter(app, `${path}/${token}`, { ...ACCOUNT, tenant: 'A' })).status).toBe(404)
    expect((await app.raw(`/console/link/${token}`)).status).toBe(200)
  })

  test('does not let somebody in who was deactivated meanwhile', async () => {
    await using app = await bootTestApp()
    const operator = await newOperator(app)
    const token = await app.operators.links.issueSignIn(SYSTEM, operator.id)
    await operator.deactivate()
    const answer = await enter(app, `/console/link/${token}`)
    expect([answer.status, answer.headers.get('set-cookie')]).toEqual([403, null])
  })

  test('owes the second factor all the same', async () => {
    await using app = await bootTestApp()
    const operator = await newOperator(app)
    await operator.enrol()
    const token = await app.operators.links.issueSignIn(SYSTEM, operator.id)
    const answer = await enter(app, `/console/link/${token}`)
    const [cookie = ''] = answer.headers.getSetCookie()
    const headers = { cookie: cookie.split(';')[0] ?? '' }
    expect((await app.raw('/console/account', { headers })).status).toBe(401)
  })

  test('invites one, however many press at once, and nobody for longer than it is good', async () => {
    await using app = await bootTestApp()
    const { id: tenantId } = await app.tenant('Acme')
    const inviter = { actor: SYSTEM, id: 'inviter', name: 'Ada' }
    const invite = async (email: string) => {
      const { url } = await app.operators.invitations.invite(inviter, tenantId, {
        email,
        role: 'owner',
      })
      return new URL(url).pathname
    }
    const path = await invite('new@example.com')
    const people = await Promise.all(
      [1, 2].map(async () => {
        const operator = await newOperator(app)
        const { headers } = await operator.signIn()
        return { headers, body: new URLSearchParams({ account: operator.id }) }
      }),
    )
    const answers = await Promise.all(
      people.map((sent) => app.raw(path, { method: 'POST', ...sent })),
    )
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 404])
    expect(app.operators.memberships.list(tenantId)).toHaveLength(1)

    const late = await invite('late@example.com')
    app.clock.jump(7 * 86_400_000)
    expect((await enter(app, late, ACCOUNT)).status).toBe(404)
    expect(app.operators.memberships.list(tenantId)).toHaveLength(1)
  })
})
