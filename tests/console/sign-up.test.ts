import { expect, test } from 'bun:test'
import { SYSTEM_TENANT_ID } from '../../src/platform/system-tenant.ts'
import { shortened } from '../support/address.ts'
import { type HttpBrowser, newHttpBrowser, type Seen } from '../support/http-browser.ts'
import { newOperator } from '../support/operator.ts'
import { freePort } from '../support/port.ts'
import { newAccount, startProviders } from '../support/social/index.ts'
import {
  ACCOUNT,
  audited,
  bootConsole,
  type Console,
  mailTo,
  useConsole,
  WITH_MAIL,
} from './fixture.ts'

const { password } = ACCOUNT
const OPEN = { flags: { 'console-signup': 'open' } }

async function setUp(options: Parameters<typeof useConsole>[0], boot = bootConsole) {
  const app = await boot(options)
  await newOperator(app, { isAdmin: true })
  return app
}

/** A new person creates an account, on the way to a page. */
async function signUp(app: Console, email: string, name = '', to = '') {
  const operator = newHttpBrowser()
  const login = await operator.visit(`${app.url}/console${to}`)
  const form = await operator.follow(login, '/registration?from=')
  const typed = { 'traits.email': email, 'traits.display_name': name, password }
  return { operator, page: await operator.press(form, 'method=password', typed) }
}

const pathOf = ({ url }: Seen) => shortened(new URL(url).pathname).replace('/console', '')
const tenantsOf = (app: Console) => app.platform.tenants.list()

const app = await setUp(OPEN, useConsole)
const mailing = await setUp({ ...OPEN, env: WITH_MAIL }, useConsole)

test('With open sign-up, a new account gets a tenant on the free plan, and names it once', async () => {
  const acme = await app.tenant('Acme')
  const email = 'ada@example.com'
  const { operator, page } = await signUp(app, email, 'Ada Berg')
  expect([page.status, pathOf(page)]).toEqual([200, '/welcome'])
  const [, tenant] = tenantsOf(app)
  expect(tenant).toMatchObject({ name: 'Ada Berg’s team', plan: 'free' })
  const [owner] = app.operators.memberships.list(tenant?.id ?? '')
  expect(owner).toMatchObject({ email, role: 'owner' })
  const entry = { actor_id: owner?.id ?? '', tenant_id: tenant?.id ?? '' }
  expect(audited(app, 'tenant.created').at(-1)).toMatchObject(entry)
  const wrong = 'x'.repeat(201)
  const refused = await operator.press(page, 'Continue', { tenant: wrong })
  expect([refused.status, refused.forms[0]?.values.tenant]).toEqual([422, wrong])
  const next = await operator.press(page, 'Continue', { tenant: 'Berg Analytics' })
  expect([pathOf(next), tenantsOf(app)[1]?.name]).toEqual(['/get-started', 'Berg Analytics'])
  expect(audited(app, 'tenant.changed')).toMatchObject([{ actor_id: owner?.id }])
  expect((await operator.visit(`${app.url}/console/installation/tenants`)).status).toBe(403)
  const body = new URLSearchParams({ to: acme.id })
  const switched = await operator.visit(`${app.url}/console/switch`, { method: 'POST', body })
  expect(switched.status).toBe(403)
  expect((await operator.visit(`${app.url}/console`)).text).not.toContain('Acme')
})

test('The suggested name may stay, and the page asked for comes next', async () => {
  const flags = { 'console-signup-plan': 'metered', 'metering-default-plan': 'free' }
  await using app = await setUp({ flags: { ...OPEN.flags, ...flags } })
  const { operator, page } = await signUp(app, 'ada@example.com', 'Ada')
  expect(pathOf(await operator.press(page, 'Continue'))).toBe('/get-started')
  expect(audited(app, 'tenant.changed')).toEqual([])
  expect(tenantsOf(app)).toMatchObject([{ plan: 'metered' }])
  app.clock.jump(120_000)
  const again = newHttpBrowser()
  const login = await again.visit(`${app.url}/console`)
  const typed = { identifier: 'ada@example.com', password }
  expect(pathOf(await again.press(login, 'method=password', typed))).toBe('')
  const elsewhere = await signUp(app, 'bob@example.com', 'Bob', '/usage')
  expect(pathOf(elsewhere.page)).toBe('/usage')
})

test('Every name makes a tenant', async () => {
  for (const [email, name] of [
    [`${'a'.repeat(60)}@${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.example`, ''],
    // Letters of two code units each.
    ['long@example.com', '😀'.repeat(200)],
    ['markup@example.com', '"><script>alert(1)</script>'],
  ] as const) {
    const { page } = await signUp(app, email, name)
    expect([pathOf(page), page.html.includes('<script>alert')]).toEqual(['/welcome', false])
    const tenant = tenantsOf(app).at(-1)?.name ?? ''
    expect([tenant.endsWith('’s team'), tenant.isWellFormed()]).toEqual([true, true])
  }
})

async function verifyBy(operator: HttpBrowser, asking: Seen, email: string) {
  const sent = await operator.press(asking, 'method=code', { email })
  const [, code = ''] = /^ {4}(\d{6})$/m.exec(mailTo(mailing, email)) ?? []
  return operator.press(sent, 'method=code', { code })
}

test('With email, the tenant is created once the address is verified', async () => {
  const email = 'ada@example.com'
  const { operator, page } = await signUp(mailing, email, 'Ada')
  expect([pathOf(page), tenantsOf(mailing)]).toEqual(['/start', []])
  expect(page.text).toContain(`Your tenant is created once ${email} is verified.`)
  expect(pathOf(await operator.visit(`${mailing.url}/console/keys`))).toBe('/start')
  const verified = await verifyBy(operator, await operator.press(page, 'Verify email'), email)
  const login = await operator.press(verified, 'Sign in to verify')
  const done = await operator.press(login, 'method=password', { identifier: email, password })
  const [tenant] = tenantsOf(mailing)
  expect(tenant).toMatchObject({ name: 'Ada’s team', plan: 'free' })
  expect(pathOf(await operator.follow(done, '/console/enter'))).toBe('/welcome')
  const members = mailing.operators.memberships.list(tenant?.id ?? '')
  expect(members).toMatchObject([{ email, role: 'owner' }])
})

test('With email, recovering an account gives a tenant in which no one else has been', async () => {
  const email = 'victim@example.com'
  const mallory = await signUp(mailing, email)
  const before = audited(mailing, 'tenant.created').length
  const ada = newHttpBrowser()
  const login = await ada.visit(`${mailing.url}/console`)
  await verifyBy(ada, await ada.follow(login, '/recovery?from='), email)
  expect(audited(mailing, 'tenant.created')).toHaveLength(before + 1)
  const late = await mallory.operator.visit(`${mailing.url}/console`)
  expect(pathOf(late)).toBe('/auth/self-service/login')
})

test.each(['open', 'closed'])(
  'An account at a provider gets a tenant if sign-up is open: it is %s',
  async (signup) => {
    const port = freePort()
    const path = '/auth/self-service/methods/oidc/callback/github-tenant'
    const account = newAccount()
    await using github = startProviders({ redirectUris: [`http://127.0.0.1:${port}${path}`] })
    github.signInAs(account)
    const { clientId = '', clientSecret = '', baseUrl = '' } = github.providerConfig('github')
    const prefix = 'GATEHOUSE_GATE_PROVIDERS_GITHUB_TENANT'
    const env = {
      [`${prefix}_CLIENT_ID`]: clientId,
      [`${prefix}_CLIENT_SECRET`]: clientSecret,
      [`${prefix}_BASE_URL`]: baseUrl,
    }
    const start = new Date().toISOString()
    await using app = await setUp({ flags: { 'console-signup': signup }, env, port, start })

    async function signIn() {
      const operator = newHttpBrowser()
      const login = await operator.visit(`${app.url}/console`)
      // Without sign-up, the page does not link to it.
      const isOffered = login.links.some(({ url }) => url.includes('registration'))
      expect(isOffered).toBe(signup === 'open')
      let page = await operator.press(login, 'provider=github-tenant')
      while (!page.url.startsWith(app.url)) page = await operator.press(page, 'decision=allow')
      return { operator, page }
    }
    const { page, operator } = await signIn()
    if (signup === 'closed') {
      expect(page.text).toContain('No account here matches your')
      expect([operator.cookie('identity_session'), tenantsOf(app)]).toEqual([undefined, []])
      const operators = app.db.client.query('SELECT 1 FROM gate_identities WHERE tenant_id = ?')
      expect(operators.all(SYSTEM_TENANT_ID)).toHaveLength(1)
      return
    }
    expect(pathOf(page)).toBe('/welcome')
    expect(tenantsOf(app)).toMatchObject([{ name: `${account.name}’s team` }])
    const again = await signIn()
    expect(tenantsOf(app)).toHaveLength(1)
    const shown = await again.operator.visit(`${app.url}/console/account`)
    expect(shown.text).toContain('GitHub Linked')
  },
)
