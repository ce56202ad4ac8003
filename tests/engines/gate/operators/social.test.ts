import { afterAll, expect, test } from 'bun:test'
import { OPERATOR_PROVIDERS, PROVIDERS } from '../../../../src/config/index.ts'
import {
  type Account,
  newAccount,
  type ProviderSettings,
  startProviders,
  walk,
} from '../../../support/social/index.ts'
import { SETTINGS } from '../fixture.ts'
import { complains } from '../sign-in/flows/acts.ts'
import type { Browser, Page } from '../sign-in/flows/browser.ts'
import { nodeNames } from '../sign-in/flows/fixture.ts'
import { BASE, OPEN, PASSWORD, useOperators, WITH_MAIL } from './fixture.ts'

type Provider = (typeof OPERATOR_PROVIDERS)[number]

const callbackOf = (provider: string) =>
  `${BASE}/auth/self-service/methods/oidc/callback/${provider}`

const time = { now: (): number => 0 }
const redirectUris = OPERATOR_PROVIDERS.map(callbackOf)
const openId = await startProviders({ redirectUris, clock: { now: () => time.now() } })
const plain = startProviders({ redirectUris })
afterAll(async () => {
  await Promise.all([openId.stop(), plain.stop()])
})

const SETTINGS_OF: Record<Provider, ProviderSettings> = {
  'github-tenant': plain.providerConfig('github'),
  'google-tenant': openId.providerConfig('google'),
}

const ENV: Record<string, string> = {}
for (const name of OPERATOR_PROVIDERS) {
  const front = `GATEHOUSE_GATE_PROVIDERS_${name.toUpperCase().replace('-', '_')}`
  const { clientId = '', clientSecret = '', baseUrl = '' } = SETTINGS_OF[name]
  ENV[`${front}_CLIENT_ID`] = clientId
  ENV[`${front}_CLIENT_SECRET`] = clientSecret
  ENV[`${front}_BASE_URL`] = baseUrl
}

/** An installation with both providers. */
async function useOffering(flags: Record<string, string>) {
  const fixture = await useOperators({ flags, env: { ...ENV, ...WITH_MAIL } })
  time.now = () => fixture.clock.now()

  /** Presses the button of a provider, and comes back as `account`. */
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

const open = await useOffering(OPEN)
const closed = await useOffering({})

test.each([...OPERATOR_PROVIDERS])(
  'An account of %s signs up if that is open',
  async (provider) => {
    const account = newAccount()
    const first = await open.signedIn((await open.come(provider, account, 'registration')).page)
    const again = await open.signedIn((await open.come(provider, account, 'login')).page)
    expect(again.session.identity.id).toBe(first.session.identity.id)
    expect(again.session.authentication_methods).toMatchObject([{ method: 'oidc', provider }])
    expect(first.session.identity).toMatchObject({
      schema_id: 'operator',
      traits: { email: account.email, display_name: account.name },
      verifiable_addresses: [{ verified: true }],
    })

    const before = closed.people().length
    for (const unknown of [newAccount(), newAccount({ email: null })]) {
      const { browser, page } = await closed.come(provider, unknown, 'login')
      const told = await browser.follow(page)
      expect([told.status, told.text]).toEqual([200, expect.stringContaining('No account here')])
    }
    expect(closed.people()).toHaveLength(before)
  },
)

test.each([...OPERATOR_PROVIDERS])('An operator connects an account of %s', async (provider) => {
  // By signing in as usual, with the same verified address,
  const { id, email } = await closed.operator()
  const account = newAccount({ email })
  const { browser, page } = await closed.come(provider, account, 'login')
  const asked = await browser.follow(page)
  const typed = { identifier: email, password: PASSWORD }
  const { token } = await closed.signedIn(await browser.press(asked, ['method', 'password'], typed))
  const { session } = await closed.signedIn((await closed.come(provider, account, 'login')).page)
  expect(session.identity.id).toBe(id)

  // or in the settings, where it can be disconnected.
  const unlinking = await browser.visit(await closed.begin('settings', { sessionToken: token }))
  expect((await browser.press(unlinking, ['unlink', provider])).status).toBe(303)
  const linking = await browser.visit(await closed.begin('settings', { sessionToken: token }))
  const back = await closed.press(browser, linking, provider, newAccount(), 'link')
  expect((await browser.follow(back)).text).toContain('Your changes have been saved.')
})

const NO_NAME = { name: undefined, given_name: undefined }

test.each<[Provider, Record<string, unknown>, object]>([
  ['github-tenant', { name: 'Ada Berg', login: 'ada' }, { display_name: 'Ada Berg' }],
  ['github-tenant', { name: 'Ada\u2028Berg' }, { display_name: 'Ada Berg' }],
  ['github-tenant', { name: null, login: 'ada' }, { display_name: 'ada' }],
  ['github-tenant', { name: '', login: '', locale: 'de' }, { display_name: 'GitHub User' }],
  ['google-tenant', { ...NO_NAME, given_name: 'Ada' }, { display_name: 'Ada' }],
  ['google-tenant', NO_NAME, { display_name: 'Google User', locale: undefined }],
  ['google-tenant', { locale: 'pt-BR' }, { locale: 'pt' }],
  ['google-tenant', { locale: 'DE_at' }, { locale: 'de' }],
])('A new operator of %s with %j has %j', async (provider, claims, traits) => {
  const account = newAccount({ claims })
  const { page } = await open.come(provider, account, 'registration')
  const { session } = await open.signedIn(page)
  expect<object>({ locale: undefined, ...session.identity.traits }).toMatchObject({
    email: account.email,
    ...traits,
  })
})

test('The name is kept while the address is asked for', async () => {
  const account = newAccount({ email: null, name: 'Ada Berg' })
  const { browser, page } = await open.come('github-tenant', account, 'registration')
  const form = await browser.follow(page)
  const email = 'asked@example.com'
  const done = await browser.press(form, ['provider', 'github-tenant'], { 'traits.email': email })
  const { session } = await open.signedIn(done)
  expect(session.identity).toMatchObject({
    traits: { email, display_name: 'Ada Berg', locale: 'en' },
    verifiable_addresses: [{ verified: false }],
  })
})

test('Providers of operators can neither be seen, switched on nor used by tenants', async () => {
  const tenant = await open.tenant()
  const path = `${SETTINGS}/oidc-providers`
  const { body } = await tenant.api.get(path)
  const names = body.providers.map(({ provider }: { provider: string }) => provider)
  expect(names).toEqual([...PROVIDERS])
  for (const provider of OPERATOR_PROVIDERS) {
    const providers = [{ provider, enabled: true }]
    expect((await tenant.api.put(path, { providers })).status).toBe(400)
    const flow = await tenant.start('login')
    expect(nodeNames(flow)).not.toContain(`oidc:provider=${provider}`)
    const answer = await tenant.send(flow, { method: 'oidc', provider })
    expect(answer).toMatchObject(complains(4900009))
  }
  const listed = await open.app.raw(`/public/gate/providers/${tenant.id}`)
  expect(listed.body).toEqual({ providers: [] })
})

test('An operator who signed up with a provider can disconnect it if email codes can be sent', async () => {
  const { page } = await open.come('google-tenant', newAccount(), 'registration')
  const { token } = await open.signedIn(page)
  const url = await open.begin('settings', { sessionToken: token })
  expect(nodeNames(await open.flowAt(url, token))).toContain('oidc:unlink=google-tenant')
  const { html } = await open.browser().visit(await open.begin('login'))
  for (const shown of ['Continue with GitHub', 'class="mark google"']) expect(html).toContain(shown)
})
