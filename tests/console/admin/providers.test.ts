import { afterAll, expect, test } from 'bun:test'
import { createPrivateKey } from 'node:crypto'
import { ALL_PROVIDERS } from '../../../src/config/index.ts'
import { startProviders } from '../../support/social/providers.ts'
import { audited, useConsole } from '../fixture.ts'

const LIST = '/installation/providers'
const GIVEN = 'given-secret'
const app = await useConsole({
  env: {
    GATEHOUSE_GATE_PROVIDERS_GITHUB_CLIENT_ID: 'given-id',
    GATEHOUSE_GATE_PROVIDERS_GITHUB_CLIENT_SECRET: GIVEN,
  },
})
const admin = await app.newAdmin()
const providers = startProviders({ clock: app.clock })
afterAll(providers.stop)

const pageOf = (id: string) => `${LIST}/${id}`
const save = (id: string, fields: Record<string, string>) => admin.send(pageOf(id), fields)
const client = { client_id: 'abc', client_secret: 'topsecret' }
const stored = (id: (typeof ALL_PROVIDERS)[number]) =>
  app.installationSettings.storedIn(`gate.providers.${id}`)

test('Every provider has a page with its redirect URL and where to register', async () => {
  const list = await admin.sees(LIST, '1 of 11 providers', 'File or environment', 'given-id')
  expect(list.rows).toEqual([...ALL_PROVIDERS])
  for (const id of ALL_PROVIDERS) {
    const page = await admin.open(pageOf(id))
    page.says('Register an app', `/methods/oidc/callback/${id}`).omits(GIVEN)
  }
  expect((await admin.open(pageOf('myspace'))).status).toBe(404)
})

test('A saved provider works at once, and its secret is never shown again', async () => {
  const acme = await app.newTenant()
  const offered = async () => (await app.raw(`/public/gate/providers/${acme.id}`)).body.providers
  await acme.gate.put('/v1/gate/settings/oidc-providers', {
    providers: [{ provider: 'google', enabled: true }],
  })
  expect(await offered()).toEqual([])
  const saved = await admin.follow(await save('google', client))
  saved.says('Provider saved', 'Configured', 'One is saved', 'abc').omits('topsecret')
  expect(await offered()).toEqual(['google'])
  ;(await admin.open(LIST)).says('2 of 11 providers').omits('topsecret')
  const changes = JSON.stringify(audited(app, 'installation_settings.changed'))
  expect(changes).toContain('gate.providers.google')
  expect(changes).not.toContain('topsecret')
  await admin.send(`${pageOf('google')}/remove`)
  expect(await offered()).toEqual([])
})

test('An empty secret keeps the saved one, but for the same app and URLs only', async () => {
  await save('gitlab', client)
  await save('gitlab', { ...client, client_secret: '' })
  expect(stored('gitlab')).toEqual(client)
  const changes: Record<string, string>[] = [
    { client_id: 'def' },
    { base_url: 'https://evil.example' },
  ]
  for (const change of changes) {
    const refused = await save('gitlab', { ...client, client_secret: '', ...change })
    expect([refused.status, refused.wrong]).toEqual([422, ['client_secret']])
  }
  const moved = { ...client, base_url: 'https://gitlab.example' }
  await save('gitlab', moved)
  expect(stored('gitlab')).toEqual(moved)
})

const { privateKey } = providers.providerConfig('apple')

test.each([
  ['google', { client_id: 'abc' }, ['client_secret']],
  ['google', {}, ['client_id', 'client_secret']],
  ['google', { ...client, base_url: 'http://idp.example' }, ['base_url']],
  ['google', { ...client, token_url: '/token', jwks_url: 'x' }, ['token_url', 'jwks_url']],
  ['apple', { client_id: 'abc', private_key: 'topsecret' }, ['team_id', 'key_id', 'private_key']],
] as const)(
  '%s with %j is refused at its fields, without the secret',
  async (id, fields, wrong) => {
    const page = await save(id, fields)
    expect(page.status).toBe(422)
    expect(page.wrong.toSorted()).toEqual([...wrong].toSorted())
    page.omits('topsecret')
    expect(stored(id)).toBeUndefined()
  },
)

test('The private key of Apple may have the line ends of a form', async () => {
  const key = `${privateKey}`.replaceAll('\n', '\r\n')
  const ids = { client_id: 'org.example', team_id: 'TEAM', key_id: 'KEY' }
  expect((await save('apple', { ...ids, private_key: key })).status).toBe(303)
  const { apple } = app.installationSettings.current().gate.providers
  expect(createPrivateKey(`${apple.privateKey}`).type).toBe('private')
  ;(await admin.open(pageOf('apple'))).omits('PRIVATE KEY-----&#', 'BEGIN PRIVATE KEY-----\n')
  await admin.send(`${pageOf('apple')}/remove`)
})

test('A test says whether the provider accepts the client', async () => {
  const { clientId, clientSecret, baseUrl } = providers.providerConfig('google')
  const right = {
    client_id: `${clientId}`,
    client_secret: `${clientSecret}`,
    base_url: `${baseUrl}`,
  }
  await save('google', right)
  ;(await admin.send(`${pageOf('google')}/test`)).says(
    'The client is accepted',
    'publishes the keys',
  )
  await save('google', { ...right, client_secret: 'wrong-secret' })
  const refused = await admin.send(`${pageOf('google')}/test`)
  refused.says('The client is rejected', 'invalid_client').omits('wrong-secret')
  expect(audited(app, 'provider.tested').map(({ object }) => object)).toEqual([
    'provider:google',
    'provider:google',
  ])
})

test('A provider of the environment is read-only', async () => {
  const page = await admin.open(pageOf('github'))
  page.says('Set outside the console', 'given-id', '[redacted]', 'Test connection')
  page.omits(GIVEN, 'Save provider', 'Remove provider')
  expect((await save('github', client)).status).toBe(422)
  expect((await admin.send(`${pageOf('github')}/remove`)).status).toBe(409)
})
