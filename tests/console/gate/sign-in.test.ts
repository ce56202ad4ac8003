import { expect, test } from 'bun:test'
import { PROVIDERS } from '../../../src/config/index.ts'
import { requiredSettings } from '../../../src/console/pages/users/required-settings.ts'
import { testConfig, withClients } from '../../support/config.ts'
import { useConsole } from '../fixture.ts'

const PAGE = '/sign-in'

const app = await useConsole()

test('Providers are listed with missing settings, and enabled with a warning about them', async () => {
  const { as, gate } = await app.newTenant()
  const [member, viewer] = [await as('member'), await as('viewer')]
  const { html } = (await viewer.open(PAGE)).omits('github-tenant', 'Enable ', 'Try sign-in')
  expect(html.match(/Missing client_id, client_secret</g)).toHaveLength(10)
  expect(html.match(/Missing client_id, team_id, key_id, private_key</g)).toHaveLength(1)
  const enabled = async () => {
    const { body } = await gate.get('/v1/gate/settings/oidc-providers')
    return body.providers.filter((one: { enabled: boolean }) => one.enabled)
  }
  const on = await member.send(`${PAGE}/providers/github/on`, { back: 'list' })
  ;(await member.follow(on)).says('Enabled, but not configured: GitHub.')
  expect(await enabled()).toEqual([{ provider: 'github', enabled: true }])
  const off = await member.send(`${PAGE}/providers/github/off`)
  expect(off.location).toEndWith('?done=sign-in-providers-off')
  expect([await enabled(), member.audited('providers.changed').length]).toEqual([[], 2])
  for (const unknown of ['providers/github-tenant', 'methods/toString'])
    expect((await member.send(`${PAGE}/${unknown}/on`)).status).toBe(404)
})

test('The page of a provider says what to configure and which callback URL to register', async () => {
  const { as } = await app.newTenant()
  const viewer = await as('viewer')
  for (const id of PROVIDERS) {
    const page = await viewer.sees(`${PAGE}/providers/${id}`, `[gate.providers.${id}]`, 'Missing')
    page.says(`/oidc/callback/${id}<`, id === 'apple' ? 'private_key = ' : 'client_secret = ')
    expect(page.omits('Enable<').status).toBe(200)
  }
  for (const id of ['github-tenant', 'toString', '%3Cscript%3E'])
    expect((await viewer.open(`${PAGE}/providers/${id}`)).status).toBe(404)
  const { flags, env } = withClients('github')
  expect(requiredSettings(testConfig(flags, env), 'github')).toEqual([
    { name: 'client_id', isSet: true, value: 'x' },
    { name: 'client_secret', isSet: true },
  ])
})

test('Email codes and two-factor authentication are enabled and disabled, and "Try it" leads to the sign-in page', async () => {
  const { owner, gate } = await app.newTenant()
  const security = async () => (await gate.get('/v1/gate/settings/security')).body
  for (const method of ['code', 'second-factor']) await owner.send(`${PAGE}/methods/${method}/on`)
  expect(await security()).toEqual({ passwordless_enabled: true, mfa_enabled: true })
  await owner.sees(PAGE, 'Enabled, but not configured: Email code.')
  await owner.send(`${PAGE}/methods/second-factor/off`)
  expect(await security()).toEqual({ passwordless_enabled: true, mfa_enabled: false })
  expect(owner.audited('security.changed')).toHaveLength(3)
  const { pathname, search } = new URL((await owner.send(`${PAGE}/try`)).location ?? '')
  expect(pathname).toBe('/auth/self-service/login')
  expect((await owner.open(pathname + search)).status).toBe(200)
})

test('Return URLs are saved, one on a line; wrong ones come back with the line of the error', async () => {
  const { owner, as, gate } = await app.newTenant()
  const save = (urls: string) => owner.send(`${PAGE}/return-urls`, { urls })
  await save('https://a.example/in\r\n\r\n  https://b.example \r\n')
  expect((await gate.get('/v1/gate/settings/return-urls')).body).toEqual({
    return_urls: ['https://a.example/in', 'https://b.example'],
  })
  expect(owner.audited('return_urls.changed')).toHaveLength(1)
  await (await as('viewer')).sees(PAGE, 'https://b.example')
  for (const [urls, message] of [
    ['https://a.example\r\n\r\njavascript:alert(1)', 'Line 3 must be an http or https URL.'],
    [`https://a.example\n${'x'.repeat(501)}`, 'Line 2 must have at most 500 characters.'],
    [Array(101).fill('https://a.example').join('\n'), 'Must have at most 100 URLs.'],
  ] as const) {
    const { status, wrong } = (await save(urls)).says(message, urls.slice(-17))
    expect([status, wrong]).toEqual([422, ['urls']])
  }
})
