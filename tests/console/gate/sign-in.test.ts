import { describe, expect, test } from 'bun:test'
import { loadConfig, PROVIDERS } from '../../../src/config/index.ts'
import { requiredSettings } from '../../../src/console/pages/gate/sign-in/required-settings.ts'
import { useConsole } from '../fixture.ts'

const PAGE = '/console/sign-in'

const app = await useConsole()

test('All providers are listed with their missing settings', async () => {
  const { as } = await app.newTenant()
  const { html, text } = await (await as('viewer')).open(PAGE)
  expect(html.match(/Missing client_id, client_secret</g)).toHaveLength(10)
  expect(html.match(/Missing client_id, team_id, key_id, private_key</g)).toHaveLength(1)
  expect(html).not.toContain('github-tenant')
  expect(text).not.toContain('Enable ')
})

test('A provider is enabled and disabled, with a warning while it is not configured', async () => {
  const { as, gate } = await app.newTenant()
  const member = await as('member')
  const enabled = async () => {
    const { body } = await gate.get('/v1/gate/settings/oidc-providers')
    return body.providers.filter((one: { enabled: boolean }) => one.enabled)
  }
  const on = await member.send(`${PAGE}/providers/github/on`, { back: 'list' })
  expect(on.location).toBe(`${PAGE}?done=on`)
  expect(await enabled()).toEqual([{ provider: 'github', enabled: true }])
  expect((await member.open(PAGE)).text).toContain('Enabled, but not configured: GitHub.')
  const off = await member.send(`${PAGE}/providers/github/off`)
  expect(off.location).toBe(`${PAGE}/providers/github?done=off`)
  expect(await enabled()).toEqual([])
  expect(member.audited('providers.changed')).toHaveLength(2)
  for (const unknown of ['providers/github-tenant', 'methods/toString'])
    expect((await member.send(`${PAGE}/${unknown}/on`)).status).toBe(404)
})

test('Email codes and two-factor authentication are enabled and disabled', async () => {
  const { owner, gate } = await app.newTenant()
  const security = async () => Object.values((await gate.get('/v1/gate/settings/security')).body)
  await owner.send(`${PAGE}/methods/code/on`)
  await owner.send(`${PAGE}/methods/second-factor/on`)
  expect(await security()).toEqual([true, true])
  expect((await owner.open(PAGE)).text).toContain('Enabled, but not configured: Email code.')
  await owner.send(`${PAGE}/methods/second-factor/off`)
  const { body } = await gate.get('/v1/gate/settings/security')
  expect(body).toEqual({ passwordless_enabled: true, mfa_enabled: false })
  expect(owner.audited('security.changed')).toHaveLength(3)
})

test('Return URLs are saved, one on a line', async () => {
  const { owner, as, gate } = await app.newTenant()
  const urls = 'https://a.example/in\r\n\r\n  https://b.example \r\n'
  expect((await owner.send(`${PAGE}/return-urls`, { urls })).location).toBe(`${PAGE}?done=urls`)
  expect((await gate.get('/v1/gate/settings/return-urls')).body).toEqual({
    return_urls: ['https://a.example/in', 'https://b.example'],
  })
  expect(owner.audited('return_urls.changed')).toHaveLength(1)
  expect((await (await as('viewer')).open(PAGE)).text).toContain('https://b.example')
})

test.each([
  ['https://a.example\r\n\r\njavascript:alert(1)', 'Line 3 must be an http or https URL.'],
  [`https://a.example\n${'x'.repeat(501)}`, 'Line 2 must have at most 500 characters.'],
  [Array(101).fill('https://a.example').join('\n'), 'Must have at most 100 URLs.'],
])('Wrong return URLs come back with the line of the error', async (urls, message) => {
  const { owner } = await app.newTenant()
  const { status, wrong, text, html } = await owner.send(`${PAGE}/return-urls`, { urls })
  expect([status, wrong, text]).toEqual([422, ['urls'], expect.stringContaining(message)])
  expect(html).toContain(urls.split('\n').at(-1))
})

describe('The page of a provider', () => {
  test('says what to configure and which callback URL to register', async () => {
    const { as } = await app.newTenant()
    const viewer = await as('viewer')
    for (const id of PROVIDERS) {
      const { status, html } = await viewer.open(`${PAGE}/providers/${id}`)
      expect([id, status]).toEqual([id, 200])
      for (const part of [
        `/auth/self-service/methods/oidc/callback/${id}<`,
        `[gate.providers.${id}]`,
        id === 'apple' ? 'private_key = ' : 'client_secret = ',
        'Missing',
      ])
        expect(html).toContain(part)
      expect(html).not.toContain('Enable<')
    }
    for (const id of ['github-tenant', 'toString', '%3Cscript%3E'])
      expect((await viewer.open(`${PAGE}/providers/${id}`)).status).toBe(404)
  })

  test('gets no secrets', () => {
    const env = {
      GATEHOUSE_GATE_PROVIDERS_GITHUB_CLIENT_ID: 'a',
      GATEHOUSE_GATE_PROVIDERS_GITHUB_CLIENT_SECRET: 'the-secret',
    }
    const readFile = (path: string) => {
      throw Object.assign(new Error(`no file ${path}`), { code: 'ENOENT' })
    }
    const loaded = loadConfig({ flags: {}, env, cwd: '/nowhere', readFile })
    expect(loaded.ok && requiredSettings(loaded.config, 'github')).toEqual([
      { name: 'client_id', isSet: true, value: 'a' },
      { name: 'client_secret', isSet: true },
    ])
  })
})

test('"Try it" leads to the sign-in page of the tenant', async () => {
  const { owner } = await app.newTenant('Try it Ltd')
  const { status, location } = await owner.send(`${PAGE}/try`)
  const { pathname, search } = new URL(location ?? '')
  expect([status, pathname]).toEqual([303, '/auth/self-service/login'])
  const page = await owner.open(pathname + search)
  expect([page.status, page.text]).toEqual([200, expect.stringContaining('Try it Ltd')])
})
