import { describe, expect, test } from 'bun:test'
import { SYSTEM_TENANT_ID } from '../../src/platform/system-tenant.ts'
import { type HttpBrowser, newHttpBrowser, type Seen } from '../support/http-browser.ts'
import { newOperator } from '../support/operator.ts'
import { freePort } from '../support/port.ts'
import { newAccount, startOpenIdProvider, startPlainProviders } from '../support/social/index.ts'
import { ACCOUNT, audited, type ServedApp, servedApp } from './console-fixture.ts'
import { mailTo, WITH_MAIL } from './unverified-fixture.ts'

const OPEN = { 'console-signup': 'open' }

/** Where sign-up is open, and somebody has set the installation up. */
async function openApp(flags: Record<string, string> = OPEN, env: Record<string, string> = {}) {
  const app = await servedApp({ flags, env })
  await newOperator(app, { isAdmin: true })
  return app
}

/** A stranger on the page that makes accounts, led there by the console's own door. */
async function stranger(app: ServedApp, to = '/console') {
  const operator = newHttpBrowser()
  const login = await operator.visit(`${app.url}${to}`)
  return { operator, form: await operator.follow(login, '/registration?from=') }
}

const typedBy = (email: string, name?: string) => ({
  'traits.email': email,
  'traits.display_name': name ?? '',
  password: ACCOUNT.password,
})

async function signUp(app: ServedApp, email: string, name?: string) {
  const { operator, form } = await stranger(app)
  return { operator, page: await operator.press(form, 'method=password', typedBy(email, name)) }
}

const tenantsOf = (app: ServedApp) => app.platform.tenants.list()
const ownedBy = (app: ServedApp): string => tenantsOf(app)[0]?.id ?? ''

describe('where sign-up is open', () => {
  test('a stranger gets an account and a tenant on the free plan, and is asked what it is called', async () => {
    await using app = await openApp()
    const { operator, page } = await signUp(app, 'ada@example.com', 'Ada Berg')
    expect([page.status, new URL(page.url).pathname]).toEqual([200, '/console/welcome'])
    expect(tenantsOf(app)).toMatchObject([{ name: 'Ada Berg’s team', plan: 'free' }])
    const [{ id: tenantId } = { id: '' }] = tenantsOf(app)
    const [owner] = app.operators.memberships.list(tenantId)
    expect(owner).toMatchObject({ email: 'ada@example.com', role: 'owner' })
    expect(audited(app, 'tenant.created')).toMatchObject([
      { actor_id: owner?.id, tenant_id: tenantId },
    ])

    const next = await operator.press(page, 'Continue', { tenant: 'Berg Analytics' })
    expect(new URL(next.url).pathname).toBe('/console/first-key')
    expect(tenantsOf(app)).toMatchObject([{ name: 'Berg Analytics' }])
    expect(audited(app, 'tenant.changed')).toMatchObject([{ actor_id: owner?.id }])
    expect((await operator.visit(`${app.url}/console/admin/tenants`)).status).toBe(403)
  })

  test('the plan of a stranger’s tenant is a setting of its own, apart from what operators create', async () => {
    await using app = await openApp({
      ...OPEN,
      'console-signup-plan': 'metered',
      'metering-default-plan': 'free',
    })
    await signUp(app, 'ada@example.com', 'Ada')
    expect(tenantsOf(app)).toMatchObject([{ plan: 'metered' }])
  })

  test('the name may stay as it is, and is asked for once', async () => {
    await using app = await openApp()
    const { operator, page } = await signUp(app, 'ada@example.com', 'Ada')
    const next = await operator.press(page, 'Continue')
    expect(new URL(next.url).pathname).toBe('/console/first-key')
    expect(audited(app, 'tenant.changed')).toEqual([])

    app.clock.jump(120_000)
    const again = newHttpBrowser()
    const login = await again.visit(`${app.url}/console`)
    const { password } = ACCOUNT
    const inside = await again.press(login, 'method=password', {
      identifier: 'ada@example.com',
      password,
    })
    expect(new URL(inside.url).pathname).toBe('/console')
  })

  test('a name that no tenant may have comes back beside its field', async () => {
    await using app = await openApp()
    const { operator, page } = await signUp(app, 'ada@example.com')
    const wrong = 'x'.repeat(201)
    const back = await operator.press(page, 'Continue', { tenant: wrong })
    expect([back.status, back.text]).toEqual([
      422,
      expect.stringContaining('Must have at most 200'),
    ])
    expect(back.forms[0]?.values.tenant).toBe(wrong)
  })

  test.each([
    [
      'no name at all',
      `${'a'.repeat(60)}@${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.example`,
      undefined,
    ],
    ['the longest name, of letters of two units', 'long@example.com', '😀'.repeat(200)],
    ['markup for a name', 'markup@example.com', '"><script>alert(1)</script>'],
  ])('an account with %s gets a tenant all the same', async (_, email, name) => {
    await using app = await openApp()
    const { page } = await signUp(app, email, name)
    expect([page.status, new URL(page.url).pathname]).toEqual([200, '/console/welcome'])
    expect(page.html).not.toContain('<script>alert')
    const [tenant, ...others] = tenantsOf(app)
    expect(others).toEqual([])
    expect(tenant?.name).toEndWith('’s team')
    expect(tenant?.name.isWellFormed()).toBe(true)
  })

  test('who was on the way somewhere goes on there', async () => {
    await using app = await openApp()
    const { operator, form } = await stranger(app, '/console/usage')
    const page = await operator.press(form, 'method=password', typedBy('ada@example.com', 'Ada'))
    expect(new URL(page.url).pathname).toBe('/console/usage')
  })

  test('tenants of others stay out of sight', async () => {
    await using app = await openApp()
    const { id } = await app.tenant('Acme')
    const { operator } = await signUp(app, 'ada@example.com', 'Ada')
    const body = new URLSearchParams({ to: id })
    const answer = await operator.visit(`${app.url}/console/switch`, { method: 'POST', body })
    expect(answer.status).toBe(403)
    expect((await operator.visit(`${app.url}/console`)).text).not.toContain('Acme')
  })
})

describe('where sign-up is open and mail goes out', () => {
  const VERA = 'vera@example.com'

  /** Types the code of the newest mail into the page that asks for one. */
  async function proveBy(app: ServedApp, operator: HttpBrowser, asking: Seen) {
    const sent = await operator.press(asking, 'method=code', { email: VERA })
    const [, code = ''] = /^ {4}(\d{6})$/m.exec(mailTo({ app }, VERA)) ?? []
    return operator.press(sent, 'method=code', { code })
  }

  test('a stranger gets the tenant once the address is verified, and is asked what it is called', async () => {
    await using app = await openApp(OPEN, WITH_MAIL)
    const { operator, page } = await signUp(app, VERA, 'Vera')
    expect([new URL(page.url).pathname, page.text]).toEqual([
      '/console',
      expect.stringContaining(`Your tenant is created once ${VERA} is verified.`),
    ])
    expect([tenantsOf(app), (await operator.visit(`${app.url}/console/keys`)).status]).toEqual([
      [],
      403,
    ])

    const asking = await operator.press(page, 'Verify email')
    const shown = await proveBy(app, operator, asking)
    const login = await operator.press(shown, 'Sign in to verify')
    const { password } = ACCOUNT
    const done = await operator.press(login, 'method=password', { identifier: VERA, password })
    expect(tenantsOf(app)).toMatchObject([{ name: 'Vera’s team', plan: 'free' }])
    const named = await operator.follow(done, '/console/enter')
    expect([new URL(named.url).pathname, app.operators.memberships.list(ownedBy(app))]).toEqual([
      '/console/welcome',
      [expect.objectContaining({ email: VERA, role: 'owner' })],
    ])
  })

  test('who takes an account over gets a tenant that no one else has been in', async () => {
    await using app = await openApp(OPEN, WITH_MAIL)
    const mallory = await signUp(app, VERA)
    expect(tenantsOf(app)).toEqual([])

    const vera = newHttpBrowser()
    const login = await vera.visit(`${app.url}/console`)
    await proveBy(app, vera, await vera.follow(login, '/recovery?from='))

    expect(audited(app, 'tenant.created')).toHaveLength(1)
    const late = await mallory.operator.visit(`${app.url}/console`)
    expect(new URL(late.url).pathname).toBe('/auth/self-service/login')
  })
})

describe.each([
  ['github-tenant', 'GitHub'],
  ['google-tenant', 'Google'],
] as const)('with an account at %s', (provider, label) => {
  /** The application beside providers that know it, and the way there and back. */
  async function bootBeside(flags: Record<string, string>) {
    const port = freePort()
    const callback = `http://127.0.0.1:${port}/auth/self-service/methods/oidc/callback/${provider}`
    const account = newAccount()
    const openId = await startOpenIdProvider({ redirectUris: [callback], clock: Date })
    const plain = startPlainProviders({ redirectUris: [callback] })
    for (const one of [openId, plain]) one.signInAs(account)
    const of =
      provider === 'github-tenant'
        ? plain.providerConfig('github')
        : openId.providerConfig('google')
    const front = `GATEHOUSE_GATE_PROVIDERS_${provider.toUpperCase().replace('-', '_')}`
    const env = {
      [`${front}_CLIENT_ID`]: of.clientId ?? '',
      [`${front}_CLIENT_SECRET`]: of.clientSecret ?? '',
      [`${front}_BASE_URL`]: of.baseUrl ?? '',
    }
    const start = new Date().toISOString()
    const app = await servedApp({ flags, env, port, start })
    await newOperator(app, { isAdmin: true })

    /** By the button of the door to the provider, and back. */
    async function come() {
      const operator = newHttpBrowser()
      const door = await operator.visit(`${app.url}/console`)
      let page = await operator.press(door, `provider=${provider}`)
      while (!page.url.startsWith(app.url)) page = await operator.press(page, 'decision=allow')
      return { operator, page, door }
    }

    return {
      app,
      account,
      come,
      [Symbol.asyncDispose]: async () => {
        await Promise.all([app[Symbol.asyncDispose](), openId.stop(), plain.stop()])
      },
    }
  }

  test('a stranger gets a tenant by their name, and is themselves the next time', async () => {
    await using fixture = await bootBeside(OPEN)
    const { page, door } = await fixture.come()
    expect(door.text).toContain(label)
    expect([page.status, new URL(page.url).pathname]).toEqual([200, '/console/welcome'])
    expect(tenantsOf(fixture.app)).toMatchObject([{ name: `${fixture.account.name}’s team` }])
    const { operator, page: again } = await fixture.come()
    expect(again.status).toBe(200)
    expect(tenantsOf(fixture.app)).toHaveLength(1)
    const account = await operator.visit(`${fixture.app.url}/console/account`)
    expect(account.text).toContain(`${label} Linked`)
  })

  test('a stranger is sent away where sign-up is closed', async () => {
    await using fixture = await bootBeside({})
    const { operator, page } = await fixture.come()
    expect(page.text).toContain('No account here matches your')
    expect(operator.cookie('identity_session')).toBeUndefined()
    expect(tenantsOf(fixture.app)).toEqual([])
  })
})

describe('where sign-up is closed', () => {
  test('the door shows no way to it', async () => {
    await using app = await openApp({})
    const login = await newHttpBrowser().visit(`${app.url}/console`)
    expect(login.links.some(({ url }) => url.includes('registration'))).toBe(false)
    expect(tenantsOf(app)).toEqual([])
    const people = app.db.client.query('SELECT 1 FROM gate_identities WHERE tenant_id = ?')
    expect(people.all(SYSTEM_TENANT_ID)).toHaveLength(1)
  })
})
