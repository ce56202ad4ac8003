import { afterAll, describe, expect, test } from 'bun:test'
import { OPERATOR_PROVIDERS, PROVIDERS } from '../../../../src/config/index.ts'
import {
  type Account,
  newAccount,
  type ProviderSettings,
  startOpenIdProvider,
  startPlainProviders,
  walk,
} from '../../../support/social/index.ts'
import { SETTINGS } from '../fixture.ts'
import { complains } from '../sign-in/flows/acts.ts'
import type { Browser, Page } from '../sign-in/flows/browser.ts'
import { nodeNames } from '../sign-in/flows/fixture.ts'
import { BASE, bootOperators, OPEN, PASSWORD, WITH_MAIL } from './fixture.ts'

type Provider = (typeof OPERATOR_PROVIDERS)[number]

const callbackOf = (provider: string) =>
  `${BASE}/auth/self-service/methods/oidc/callback/${provider}`

const time = { now: (): number => 0 }
const redirectUris = OPERATOR_PROVIDERS.map(callbackOf)
const openId = await startOpenIdProvider({ redirectUris, clock: { now: () => time.now() } })
const plain = startPlainProviders({ redirectUris })
afterAll(async () => {
  await Promise.all([openId.stop(), plain.stop()])
})

const SETTINGS_OF: Record<Provider, ProviderSettings> = {
  'github-tenant': plain.providerConfig('github'),
  'google-tenant': openId.providerConfig('google'),
}

const ENV = Object.fromEntries(
  OPERATOR_PROVIDERS.flatMap((name) => {
    const front = `GATEHOUSE_GATE_PROVIDERS_${name.toUpperCase().replace('-', '_')}`
    const { clientId = '', clientSecret = '', baseUrl = '' } = SETTINGS_OF[name]
    return [
      [`${front}_CLIENT_ID`, clientId],
      [`${front}_CLIENT_SECRET`, clientSecret],
      [`${front}_BASE_URL`, baseUrl],
    ]
  }),
)

/** The installation with both providers, open to strangers unless told otherwise. */
async function bootOffering(flags: Record<string, string> = OPEN, env = {}) {
  const fixture = await bootOperators({ flags, env: { ...ENV, ...env } })
  time.now = () => fixture.clock.now()

  /** By the button of a page to the provider, and back as `account`. */
  async function press(
    browser: Browser,
    page: Page,
    provider: Provider,
    account: Account,
    button = 'provider',
  ): Promise<Page> {
    openId.signInAs(account)
    plain.signInAs(account)
    const sent = await browser.press(page, [button, provider])
    expect(sent.status).toBe(303)
    const { params } = await walk(sent.location, { to: callbackOf(provider) })
    return browser.visit(`${callbackOf(provider)}?${params}`)
  }

  async function come(provider: Provider, account: Account, kind: 'login' | 'registration') {
    const browser = fixture.browser()
    const page = await browser.visit(await fixture.begin(kind))
    return { browser, page: await press(browser, page, provider, account) }
  }

  return { ...fixture, press, come }
}

describe.each([...OPERATOR_PROVIDERS])('with an account at %s', (provider) => {
  test('a stranger signs up where that is open, and is the same next time', async () => {
    await using fixture = await bootOffering()
    const account = newAccount()

    const first = await fixture.signedIn(
      (await fixture.come(provider, account, 'registration')).page,
    )
    const again = await fixture.signedIn((await fixture.come(provider, account, 'login')).page)

    expect(again.session.identity.id).toBe(first.session.identity.id)
    expect(again.session.authentication_methods).toMatchObject([{ method: 'oidc', provider }])
    expect(first.session.identity).toMatchObject({
      schema_id: 'operator',
      traits: { email: account.email, display_name: account.name },
      verifiable_addresses: [{ verified: true }],
    })
  })

  test('a stranger is told that there is no account, where sign-up is closed', async () => {
    await using fixture = await bootOffering({})

    const { browser, page } = await fixture.come(provider, newAccount(), 'login')

    const told = await browser.follow(page)
    expect([told.status, told.text]).toEqual([
      200,
      expect.stringContaining('No account here matches your'),
    ])
    expect(fixture.people()).toEqual([])
  })

  test('so is one whose provider names no address', async () => {
    await using fixture = await bootOffering({})
    const { browser, page } = await fixture.come(provider, newAccount({ email: null }), 'login')
    expect((await browser.follow(page)).text).toContain('No account here matches your')
  })

  test('an operator with the same proven address signs in as ever, and has it connected', async () => {
    await using fixture = await bootOffering({})
    const { id, email } = await fixture.operator()
    const account = newAccount({ email })

    const { browser, page } = await fixture.come(provider, account, 'login')
    const asked = await browser.follow(page)
    const typed = { identifier: email, password: PASSWORD }
    await fixture.signedIn(await browser.press(asked, ['method', 'password'], typed))

    const { session } = await fixture.signedIn(
      (await fixture.come(provider, account, 'login')).page,
    )
    expect(session.identity.id).toBe(id)
  })

  test('an operator connects an account in the settings, and disconnects it', async () => {
    await using fixture = await bootOffering({})
    const { email } = await fixture.operator()
    const browser = fixture.browser()
    const login = await browser.signIn(await fixture.begin('login'), email, PASSWORD)
    const { token } = await fixture.signedIn(login)

    const account = newAccount()
    const url = await fixture.begin('settings', { sessionToken: token })
    const back = await fixture.press(browser, await browser.visit(url), provider, account, 'link')
    const settings = await browser.follow(back)
    expect(settings.text).toContain('Your changes have been saved.')
    const done = await browser.press(settings, ['unlink', provider])
    expect(done.status).toBe(303)
  })
})

/** What becomes of what a provider says, row by row. */
describe('the traits of a new operator', () => {
  const without = { name: undefined, given_name: undefined }
  test.each<[string, Provider, Record<string, unknown>, object]>([
    [
      'github: the name',
      'github-tenant',
      { name: 'Ada Berg', login: 'ada' },
      { display_name: 'Ada Berg' },
    ],
    [
      'github: else the login',
      'github-tenant',
      { name: null, login: 'ada' },
      { display_name: 'ada' },
    ],
    [
      'github: else a fixed one',
      'github-tenant',
      { name: '', login: '' },
      { display_name: 'GitHub User' },
    ],
    ['github: the language is English', 'github-tenant', { locale: 'de' }, { locale: 'en' }],
    [
      'google: the name',
      'google-tenant',
      { name: 'Ada Berg', given_name: 'Ada' },
      { display_name: 'Ada Berg' },
    ],
    [
      'google: else the given name',
      'google-tenant',
      { ...without, given_name: 'Ada' },
      { display_name: 'Ada' },
    ],
    ['google: else a fixed one', 'google-tenant', without, { display_name: 'Google User' }],
    ['google: two letters of the language', 'google-tenant', { locale: 'pt-BR' }, { locale: 'pt' }],
    ['google: small ones', 'google-tenant', { locale: 'DE_at' }, { locale: 'de' }],
    [
      'a name is one line',
      'github-tenant',
      { name: 'Ada\u2028Berg' },
      { display_name: 'Ada Berg' },
    ],
  ])('%s', async (_, provider, claims, traits) => {
    await using fixture = await bootOffering()
    const account = newAccount({ claims })

    const { page } = await fixture.come(provider, account, 'registration')

    const { session } = await fixture.signedIn(page)
    expect(session.identity.traits).toMatchObject({ email: account.email, ...traits })
  })

  test('google: no language where none is said', async () => {
    await using fixture = await bootOffering()
    const { page } = await fixture.come('google-tenant', newAccount(), 'registration')
    const { identity } = (await fixture.signedIn(page)).session
    expect(Object.keys(identity.traits).sort()).toEqual(['display_name', 'email', 'tenant_id'])
  })

  test('are kept while the address is asked for, where the provider names none', async () => {
    await using fixture = await bootOffering()
    const account = newAccount({ email: null, name: 'Ada Berg' })

    const { browser, page } = await fixture.come('github-tenant', account, 'registration')
    const form = await browser.follow(page)
    const typed = { 'traits.email': 'ada@example.com' }
    const done = await browser.press(form, ['provider', 'github-tenant'], typed)

    const { session } = await fixture.signedIn(done)
    expect(session.identity).toMatchObject({
      traits: { email: 'ada@example.com', display_name: 'Ada Berg', locale: 'en' },
      verifiable_addresses: [{ verified: false }],
    })
  })
})

describe('the providers of operators', () => {
  test('are offered to operators, with the names and marks of their makers', async () => {
    await using fixture = await bootOffering()
    const url = await fixture.begin('login')
    expect(nodeNames(await fixture.flowAt(url))).toEqual(
      expect.arrayContaining(['oidc:provider=github-tenant', 'oidc:provider=google-tenant']),
    )
    const { html } = await fixture.browser().visit(url)
    expect(html).toContain('Sign in with GitHub')
    expect(html).toContain('class="mark google"')
  })

  test('are not offered without a client, nor are those of tenants', async () => {
    await using fixture = await bootOperators({
      env: {
        GATEHOUSE_GATE_PROVIDERS_GITHUB_CLIENT_ID: 'a',
        GATEHOUSE_GATE_PROVIDERS_GITHUB_CLIENT_SECRET: 'b',
      },
    })
    const flow = await fixture.flowAt(await fixture.begin('login'))
    expect(nodeNames(flow).filter((name) => name.startsWith('oidc:'))).toEqual([])
    for (const provider of ['github', 'github-tenant'])
      expect(await fixture.send(flow, { method: 'oidc', provider })).toMatchObject(
        complains(4900009),
      )
  })

  test('are nothing that a tenant sees, switches on or signs in with', async () => {
    await using fixture = await bootOffering()
    const tenant = await fixture.tenant()
    const listed = await tenant.api.get(`${SETTINGS}/oidc-providers`)
    expect(listed.body.providers.map(({ provider }: { provider: string }) => provider)).toEqual([
      ...PROVIDERS,
    ])
    for (const provider of OPERATOR_PROVIDERS) {
      const providers = [{ provider, enabled: true }]
      const answer = await tenant.api.put(`${SETTINGS}/oidc-providers`, { providers })
      expect(answer.status).toBe(400)
      const flow = await tenant.start('login')
      expect(nodeNames(flow)).not.toContain(`oidc:provider=${provider}`)
      expect(await tenant.send(flow, { method: 'oidc', provider })).toMatchObject(
        complains(4900009),
      )
    }
    const { body } = await fixture.app.raw(`/public/gate/providers/${tenant.id}`)
    expect(body).toEqual({ providers: [] })
  })

  test('who signed up by one may disconnect it, where codes by mail let them in', async () => {
    await using fixture = await bootOffering(OPEN, WITH_MAIL)
    const { page } = await fixture.come('google-tenant', newAccount(), 'registration')
    const { token } = await fixture.signedIn(page)
    const flow = await fixture.flowAt(
      await fixture.begin('settings', { sessionToken: token }),
      token,
    )
    expect(nodeNames(flow)).toContain('oidc:unlink=google-tenant')
  })
})
