import { describe, expect, test } from 'bun:test'
import { loadConfig, PROVIDERS } from '../../../src/config/index.ts'
import { requiredSettings } from '../../../src/console/pages/gate/sign-in/required-settings.ts'
import { audited } from '../console-fixture.ts'
import { type GateFixture, gateFixture, HOSTILE, READERS, wayOn } from './gate-fixture.ts'

const PATH = '/console/sign-in'

const auditedBy = ({ db, acme }: GateFixture, action: string) =>
  audited({ db }, action)
    .filter(({ tenant_id: tenantId }) => tenantId === acme.id)
    .map(({ actor_kind: kind, actor_id: id }) => [kind, id])

describe('the page on signing in', () => {
  test('is for all who belong to the tenant', async () => {
    await using fixture = await gateFixture()
    expect(await fixture.statuses(PATH)).toEqual(READERS)
    expect((await (await fixture.operator('viewer')).open(PATH)).body).not.toContain('Enable<')
  })

  test('names all providers, and what the configuration lacks for each', async () => {
    await using fixture = await gateFixture()
    const { body } = await (await fixture.operator('viewer')).open(PATH)
    expect(body.match(/Missing client_id, client_secret</g)).toHaveLength(10)
    expect(body.match(/Missing client_id, team_id, key_id, private_key</g)).toHaveLength(1)
    expect(body).not.toContain('github-tenant')
  })

  test('switches a provider on and off, and tells when it is not configured', async () => {
    await using fixture = await gateFixture()
    const member = await fixture.operator('member')
    const answer = await member.send(`${PATH}/providers/github/on`, { back: 'list' })
    expect(wayOn(answer)).toEqual([303, `${PATH}?done=on`])
    const enabled = async () => {
      const { body } = await fixture.apiOfAcme.get('/v1/gate/settings/oidc-providers')
      return body.providers.filter((one: { enabled: boolean }) => one.enabled)
    }
    expect(await enabled()).toEqual([{ provider: 'github', enabled: true }])
    expect((await member.open(PATH)).body).toContain('Enabled, but not configured: GitHub.')
    expect(wayOn(await member.send(`${PATH}/providers/github/off`))).toEqual([
      303,
      `${PATH}/providers/github?done=off`,
    ])
    expect(await enabled()).toEqual([])
    expect(auditedBy(fixture, 'providers.changed')).toEqual([
      ['operator', member.id],
      ['operator', member.id],
    ])
    expect((await member.send(`${PATH}/providers/github-tenant/on`)).status).toBe(404)
    expect((await member.send(`${PATH}/methods/toString/on`)).status).toBe(404)
  })

  test('switches codes by mail and the second factor', async () => {
    await using fixture = await gateFixture()
    const member = await fixture.operator('member')
    await member.send(`${PATH}/methods/code/on`)
    await member.send(`${PATH}/methods/second-factor/on`)
    const security = () => fixture.apiOfAcme.get('/v1/gate/settings/security')
    expect((await security()).body).toEqual({ passwordless_enabled: true, mfa_enabled: true })
    expect((await member.open(PATH)).body).toContain('Enabled, but not configured: Email code.')
    await member.send(`${PATH}/methods/second-factor/off`)
    expect((await security()).body).toEqual({ passwordless_enabled: true, mfa_enabled: false })
    expect(auditedBy(fixture, 'security.changed')).toHaveLength(3)
    const other = await fixture.apiOfOther.get('/v1/gate/settings/security')
    expect(other.body).toEqual({ passwordless_enabled: false, mfa_enabled: false })
  })

  test('keeps return URLs, one a line', async () => {
    await using fixture = await gateFixture()
    const member = await fixture.operator('member')
    const urls = 'https://a.example/in\r\n\r\n  https://b.example \r\n'
    const answer = await member.send(`${PATH}/return-urls`, { urls })
    expect(wayOn(answer)).toEqual([303, `${PATH}?done=urls`])
    expect((await fixture.apiOfAcme.get('/v1/gate/settings/return-urls')).body).toEqual({
      return_urls: ['https://a.example/in', 'https://b.example'],
    })
    expect(auditedBy(fixture, 'return_urls.changed')).toEqual([['operator', member.id]])
    expect((await (await fixture.operator('viewer')).open(PATH)).body).toContain(
      'https://b.example',
    )
  })

  test.each([
    ['https://a.example\r\n\r\njavascript:alert(1)', 'Line 3 must be an http or https URL.'],
    [`https://a.example\n${HOSTILE}`, 'Line 2 must have at most 500 characters.'],
    [Array(101).fill('https://a.example').join('\n'), 'Must have at most 100 URLs.'],
  ])('says which line is none, and keeps what was typed', async (urls, message) => {
    await using fixture = await gateFixture()
    const { send } = await fixture.operator('member')
    const { status, body } = await send(`${PATH}/return-urls`, { urls })
    expect([status, body]).toEqual([422, expect.stringContaining(message)])
    expect(body).toContain('id="field-urls-error"')
    expect(body).toContain(urls.slice(-100).split('\n').at(-1))
    expect(body).not.toContain('<script>alert')
  })

  test('is looked at, not changed, by viewers', async () => {
    await using fixture = await gateFixture()
    const { send } = await fixture.operator('viewer')
    for (const action of ['providers/github/on', 'methods/code/off', 'return-urls', 'try'])
      expect((await send(`${PATH}/${action}`)).status).toBe(403)
  })
})

describe('the page of a provider', () => {
  test.each(PROVIDERS)('of %s says what it takes, and where people come back to', async (id) => {
    await using fixture = await gateFixture()
    const { open } = await fixture.operator('viewer')
    const { status, body } = await open(`${PATH}/providers/${id}`)
    expect(status).toBe(200)
    expect(body).toContain(`/auth/self-service/methods/oidc/callback/${id}<`)
    expect(body).toContain(`[gate.providers.${id}]`)
    expect(body).toContain(id === 'apple' ? 'private_key = ' : 'client_secret = ')
    expect(body).toContain('Missing')
    expect(body).not.toContain('Enable<')
  })

  test('is for all who belong to the tenant, and of providers there are', async () => {
    await using fixture = await gateFixture()
    expect(await fixture.statuses(`${PATH}/providers/gitlab`)).toEqual(READERS)
    const { open } = await fixture.operator('owner')
    for (const id of ['github-tenant', 'toString', '%3Cscript%3E'])
      expect((await open(`${PATH}/providers/${id}`)).status).toBe(404)
  })

  test('gets no secret to show', () => {
    const env = {
      GATEHOUSE_GATE_PROVIDERS_GITHUB_CLIENT_ID: 'a',
      GATEHOUSE_GATE_PROVIDERS_GITHUB_CLIENT_SECRET: 'the-secret',
    }
    const loaded = loadConfig({ flags: {}, env, cwd: '/nowhere', readFile: missing })
    expect(loaded.ok && requiredSettings(loaded.config, 'github')).toEqual([
      { name: 'client_id', isSet: true, value: 'a' },
      { name: 'client_secret', isSet: true },
    ])
  })
})

function missing(path: string): never {
  throw Object.assign(new Error(`no file ${path}`), { code: 'ENOENT' })
}

describe('a trial', () => {
  test('leads to the page that the people of the tenant see', async () => {
    await using fixture = await gateFixture()
    const { send } = await fixture.operator('member')
    const answer = await send(`${PATH}/try`)
    const place = new URL(answer.headers.get('location') ?? '')
    expect([answer.status, place.pathname]).toEqual([303, '/auth/self-service/login'])
    const page = await fixture.raw(place.pathname + place.search, {
      headers: { accept: 'text/html' },
    })
    expect([page.status, page.body]).toEqual([200, expect.stringContaining('Acme')])
  })
})
