import { describe, expect, test } from 'bun:test'
import { SYSTEM_TENANT_ID } from '../../src/platform/system-tenant.ts'
import { type HttpBrowser, newHttpBrowser, type Seen } from '../support/http-browser.ts'
import { newOperator } from '../support/operator.ts'
import { freePort } from '../support/port.ts'
import { newAccount, startOpenIdProvider, startPlainProviders } from '../support/social/index.ts'
import { ACCOUNT, audited, mailTo, type ServedApp, servedApp, WITH_MAIL } from './fixture.ts'

const { password } = ACCOUNT
const ADA = 'ada@example.com'

/** An installation that is set up and has sign-up open unless the flags say otherwise. */
async function openApp({ flags = {}, env = {} }: Parameters<typeof servedApp>[0] = {}) {
  const app = await servedApp({ flags: { 'console-signup': 'open', ...flags }, env })
  await newOperator(app, { isAdmin: true })
  return app
}

/** A new person creates an account, on the way to a page. */
async function signUp(app: ServedApp, email: string, name = '', to = '/console') {
  const operator = newHttpBrowser()
  const login = await operator.visit(app.url + to)
  const form = await operator.follow(login, '/registration?from=')
  const typed = { 'traits.email': email, 'traits.display_name': name, password }
  return { operator, page: await operator.press(form, 'method=password', typed) }
}

const pathOf = ({ url }: Seen) => new URL(url).pathname
const tenantsOf = (app: ServedApp) => app.platform.tenants.list()

describe('With open sign-up', () => {
  test('a new account gets a tenant on the free plan, and names it once', async () => {
    await using app = await openApp()
    const acme = await app.tenant('Acme')
    const { operator, page } = await signUp(app, ADA, 'Ada Berg')
    expect([page.status, pathOf(page)]).toEqual([200, '/console/welcome'])
    const [, tenant] = tenantsOf(app)
    expect(tenant).toMatchObject({ name: 'Ada Berg’s team', plan: 'free' })
    const [owner] = app.operators.memberships.list(tenant?.id ?? '')
    expect(owner).toMatchObject({ email: ADA, role: 'owner' })
    const entry = { actor_id: owner?.id ?? '', tenant_id: tenant?.id ?? '' }
    expect(audited(app, 'tenant.created').at(-1)).toMatchObject(entry)

    const wrong = 'x'.repeat(201)
    const refused = await operator.press(page, 'Continue', { tenant: wrong })
    expect([refused.status, refused.forms[0]?.values.tenant]).toEqual([422, wrong])
    const next = await operator.press(page, 'Continue', { tenant: 'Berg Analytics' })
    expect([pathOf(next), tenantsOf(app)[1]?.name]).toEqual([
      '/console/first-key',
      'Berg Analytics',
    ])
    expect(audited(app, 'tenant.changed')).toMatchObject([{ actor_id: owner?.id }])

    expect((await operator.visit(`${app.url}/console/admin/tenants`)).status).toBe(403)
    const body = new URLSearchParams({ to: acme.id })
    const switched = await operator.visit(`${app.url}/console/switch`, { method: 'POST', body })
    expect(switched.status).toBe(403)
    expect((await operator.visit(`${app.url}/console`)).text).not.toContain('Acme')
  })

  test('the suggested name may stay, and the page asked for comes next', async () => {
    await using app = await openApp({
      flags: { 'console-signup-plan': 'metered', 'metering-default-plan': 'free' },
    })
    const { operator, page } = await signUp(app, ADA, 'Ada')
    expect(pathOf(await operator.press(page, 'Continue'))).toBe('/console/first-key')
    expect(audited(app, 'tenant.changed')).toEqual([])
    expect(tenantsOf(app)).toMatchObject([{ plan: 'metered' }])
    app.clock.jump(120_000)
    const again = newHttpBrowser()
    const login = await again.visit(`${app.url}/console`)
    const inside = await again.press(login, 'method=password', { identifier: ADA, password })
    expect(pathOf(inside)).toBe('/console')
    const elsewhere = await signUp(app, 'bob@example.com', 'Bob', '/console/usage')
    expect(pathOf(elsewhere.page)).toBe('/console/usage')
  })

  test('every name makes a tenant', async () => {
    await using app = await openApp()
    const long = `${'a'.repeat(60)}@${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.example`
    for (const [email, name] of [
      [long, ''],
      // Letters of two code units each.
      ['long@example.com', '😀'.repeat(200)],
      ['markup@example.com', '"><script>alert(1)</script>'],
    ]) {
      const { page } = await signUp(app, email as string, name)
      expect([pathOf(page), page.html.includes('<script>alert')]).toEqual([
        '/console/welcome',
        false,
      ])
    }
    const names = tenantsOf(app).map(({ name }) => name)
    expect(names.map((name) => name.endsWith('’s team') && name.isWellFormed())).toEqual([
      true,
      true,
      true,
    ])
  })

  /** Types the code of the newest email. */
  async function verifyBy(app: ServedApp, operator: HttpBrowser, asking: Seen) {
    const sent = await operator.press(asking, 'method=code', { email: ADA })
    const [, code = ''] = /^ {4}(\d{6})$/m.exec(mailTo(app, ADA)) ?? []
    return operator.press(sent, 'method=code', { code })
  }

  test('and email, the tenant is created once the address is verified', async () => {
    await using app = await openApp({ env: WITH_MAIL })
    const { operator, page } = await signUp(app, ADA, 'Ada')
    expect([pathOf(page), page.text, tenantsOf(app)]).toEqual([
      '/console',
      expect.stringContaining(`Your tenant is created once ${ADA} is verified.`),
      [],
    ])
    expect((await operator.visit(`${app.url}/console/keys`)).status).toBe(403)
    const verified = await verifyBy(app, operator, await operator.press(page, 'Verify email'))
    const login = await operator.press(verified, 'Sign in to verify')
    const done = await operator.press(login, 'method=password', { identifier: ADA, password })
    expect(tenantsOf(app)).toMatchObject([{ name: 'Ada’s team', plan: 'free' }])
    expect(pathOf(await operator.follow(done, '/console/enter'))).toBe('/console/welcome')
    const members = app.operators.memberships.list(tenantsOf(app)[0]?.id ?? '')
    expect(members).toMatchObject([{ email: ADA, role: 'owner' }])
  })

  test('and email, recovering an account gives a tenant in which no one else has been', async () => {
    await using app = await openApp({ env: WITH_MAIL })
    const mallory = await signUp(app, ADA)
    expect(tenantsOf(app)).toEqual([])
    const ada = newHttpBrowser()
    const login = await ada.visit(`${app.url}/console`)
    await verifyBy(app, ada, await ada.follow(login, '/recovery?from='))
    expect(audited(app, 'tenant.created')).toHaveLength(1)
    const late = await mallory.operator.visit(`${app.url}/console`)
    expect(pathOf(late)).toBe('/auth/self-service/login')
  })
})

describe.each([
  ['github-tenant', 'GitHub'],
  ['google-tenant', 'Google'],
] as const)('With %s', (provider, label) => {
  /** The application, and providers that sign in the same account. */
  async function bootWithProvider(signup: 'open' | 'closed') {
    const port = freePort()
    const callback = `http://127.0.0.1:${port}/auth/self-service/methods/oidc/callback/${provider}`
    const account = newAccount()
    const openId = await startOpenIdProvider({ redirectUris: [callback], clock: Date })
    const plain = startPlainProviders({ redirectUris: [callback] })
    for (const one of [openId, plain]) one.signInAs(account)
    const isGitHub = provider === 'github-tenant'
    const config = isGitHub ? plain.providerConfig('github') : openId.providerConfig('google')
    const prefix = `GATEHOUSE_GATE_PROVIDERS_${provider.toUpperCase().replace('-', '_')}`
    const env = {
      [`${prefix}_CLIENT_ID`]: config.clientId ?? '',
      [`${prefix}_CLIENT_SECRET`]: config.clientSecret ?? '',
      [`${prefix}_BASE_URL`]: config.baseUrl ?? '',
    }
    const flags = { 'console-signup': signup }
    const app = await servedApp({ flags, env, port, start: new Date().toISOString() })
    await newOperator(app, { isAdmin: true })

    async function signIn() {
      const operator = newHttpBrowser()
      const login = await operator.visit(`${app.url}/console`)
      let page = await operator.press(login, `provider=${provider}`)
      while (!page.url.startsWith(app.url)) page = await operator.press(page, 'decision=allow')
      return { operator, page, login }
    }
    const stop = () => Promise.all([app[Symbol.asyncDispose](), openId.stop(), plain.stop()])
    return { app, account, signIn, [Symbol.asyncDispose]: async () => void (await stop()) }
  }

  test('a new account gets one tenant', async () => {
    await using fixture = await bootWithProvider('open')
    const { page, login } = await fixture.signIn()
    expect([login.text, pathOf(page)]).toEqual([expect.stringContaining(label), '/console/welcome'])
    expect(tenantsOf(fixture.app)).toMatchObject([{ name: `${fixture.account.name}’s team` }])
    const { operator } = await fixture.signIn()
    expect(tenantsOf(fixture.app)).toHaveLength(1)
    const account = await operator.visit(`${fixture.app.url}/console/account`)
    expect(account.text).toContain(`${label} Linked`)
  })

  test('unknown accounts are refused while sign-up is closed', async () => {
    await using fixture = await bootWithProvider('closed')
    const { operator, page } = await fixture.signIn()
    expect(page.text).toContain('No account here matches your')
    expect(operator.cookie('identity_session')).toBeUndefined()
    expect(tenantsOf(fixture.app)).toEqual([])
  })
})

test('While sign-up is closed, the sign-in page does not link to it', async () => {
  await using app = await openApp({ flags: { 'console-signup': 'closed' } })
  const login = await newHttpBrowser().visit(`${app.url}/console`)
  expect(login.links.some(({ url }) => url.includes('registration'))).toBe(false)
  expect(tenantsOf(app)).toEqual([])
  const operators = app.db.client.query('SELECT 1 FROM gate_identities WHERE tenant_id = ?')
  expect(operators.all(SYSTEM_TENANT_ID)).toHaveLength(1)
})
