import { describe, expect, test } from 'bun:test'
import {
  ACTOR,
  IDENTITIES,
  type Json,
  mintToken,
  SESSIONS,
  SETTINGS,
  UNKNOWN_ID,
  useGate,
} from './fixture.ts'
import { AUTH, SELF_SERVICE } from './sign-in/flows/fixture.ts'

// Keys, scopes and foreign ids of the routes for keys are in tests/contract/access.test.ts.

const gate = await useGate()
const { app } = gate
const bearer = (key: string) => ({ authorization: `Bearer ${key}` })

test('Live and test keys see the same identities, settings and webhooks', async () => {
  const { api, newKey, createIdentity, createWebhook } = await gate.newTenant()
  await createIdentity()
  await createWebhook('http://127.0.0.1:9/hook')
  const test = app.client((await newKey('gate', 'test')).key)
  for (const path of [IDENTITIES, `${SETTINGS}/security`, `${SETTINGS}/webhooks`])
    expect((await test.get(path)).body).toEqual((await api.get(path)).body)
})

test('Two tenants can have identities with the same address', async () => {
  const [one, other] = [await gate.newTenant(), await gate.newTenant()]
  const traits = { email: 'ada@example.com' }
  const identities = [await one.createIdentity({ traits }), await other.createIdentity({ traits })]
  expect(identities.map(({ traits }) => traits.tenant_id)).toEqual([one.id, other.id])
})

test('A patch with any operations answers 403 for an identity of another tenant', async () => {
  const [own, other] = [await gate.newTenant(), await gate.newTenant()]
  const { id } = await own.createIdentity()
  const email = { op: 'test', path: '/traits/email', value: 'x' }
  for (const operations of [[], [email], [{ op: 'nonsense' }]])
    expect((await other.api.patch(`${IDENTITIES}/${id}`, operations)).status).toBe(403)
})

test('The API key of an access token is checked like one in a header', async () => {
  const { newKey } = await gate.newTenant()
  const { key: unscoped } = await newKey('gate', 'live', ['reports:read'])
  const { key: relay } = await newKey('relay')
  const { id, key: revoked } = await newKey('gate', 'live')
  await app.platform.keys.revoke(ACTOR, id)
  const { access_token: token } = await mintToken(app, gate.key)
  for (const [api_key, status] of [
    [unscoped, 403],
    [relay, 403],
    [revoked, 401],
    [token, 401],
    ['garbage', 401],
  ])
    expect(await gate.api.post('/v1/gate/tokens', { api_key, subject: 'svc' })).toMatchObject({
      status,
    })
})

describe('A public route', () => {
  test.each([{}, { authorization: 'Bearer garbage' }])('takes no key: %j', async (headers) => {
    const { id } = await gate.newTenant()
    for (const path of [`/public/gate/providers/${id}`, '/public/gate/schemas/user'])
      expect(await app.raw(path, { headers: headers as Record<string, string> })).toMatchObject({
        status: 200,
      })
  })

  test('shows the providers of a tenant, and nothing else of it', async () => {
    const { id, api } = await gate.newTenant()
    const providers = [{ provider: 'github', enabled: true }]
    await api.put(`${SETTINGS}/oidc-providers`, { providers })
    const { body } = await app.raw(`/public/gate/providers/${id}`)
    expect(Object.keys(body)).toEqual(['providers'])
  })

  test.each([UNKNOWN_ID, 'x', '%00', '%zz', "'--"])('answers 404 for the tenant %s', async (id) => {
    expect(await app.raw(`/public/gate/providers/${id}`)).toMatchObject({ status: 404 })
  })
})

describe('whoami', () => {
  test('needs a session and no key', async () => {
    const { key, newKey, createIdentity, openSession, whoami } = await gate.newTenant()
    const identity = await createIdentity()
    const { token } = await openSession(identity)
    const { key: test } = await newKey('gate', 'test')
    for (const headers of [{}, bearer(key), bearer(test)] as Record<string, string>[])
      expect(await whoami(token, headers)).toMatchObject({
        status: 200,
        body: { identity: { id: identity.id } },
      })
    expect((await whoami('x')).status).toBe(401)
    expect((await app.raw(`${SESSIONS}/whoami`)).status).toBe(401)
  })

  test('with a key is limited to the tenant of that key', async () => {
    const [own, other] = [await gate.newTenant(), await gate.newTenant()]
    const { token } = await own.openSession(await own.createIdentity())
    const { key: relay } = await own.newKey('relay')
    for (const [key, status] of [
      [other.key, 401],
      ['garbage', 401],
      [relay, 403],
    ] as const)
      expect((await own.whoami(token, bearer(key))).status).toBe(status)
  })
})

test('Settings need a key and a session of one tenant', async () => {
  const [own, other] = [await gate.newTenant(), await gate.newTenant()]
  const { token: ours } = await own.openSession(await own.createIdentity())
  const { token: theirs } = await other.openSession(await other.createIdentity())
  const start = (headers: Record<string, string>) => app.raw(`${AUTH}/settings`, { headers })
  for (const [key, token, status] of [
    [own.key, ours, 200],
    [other.key, theirs, 200],
    [other.key, ours, 401],
    [own.key, theirs, 401],
  ] as const)
    expect((await start({ ...bearer(key), 'x-session-token': token })).status).toBe(status)
  expect((await start(bearer(own.key))).body.error).toContain('session token')
  expect((await start({ 'x-session-token': ours })).body.error).toContain('API key')
})

describe('The action of a flow', () => {
  const action = (id: string) => `${SELF_SERVICE}/recovery?flow=${id}`
  const startRecovery = async ({ api }: { api: typeof gate.api }): Promise<string> =>
    (await api.get(`${AUTH}/recovery`)).body.id

  async function submit(id: string, headers: Record<string, string>): Promise<Json> {
    const { body } = await app.raw(action(id))
    const csrf_token = body.ui.nodes[0].attributes.value
    return app.raw(action(id), {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ csrf_token, method: 'code', email: 'wrong' }),
    })
  }

  test('can be read by anyone who knows its id, with any key or none', async () => {
    const [own, other] = [await gate.newTenant(), await gate.newTenant()]
    const id = await startRecovery(own)
    for (const headers of [{}, { authorization: 'garbage' }, bearer(other.key)])
      expect(
        await app.raw(action(id), { headers: headers as Record<string, string> }),
      ).toMatchObject({ status: 200, body: { id } })
  })

  test('takes forms without a key and with one of its tenant, and no others', async () => {
    const [own, other] = [await gate.newTenant(), await gate.newTenant()]
    const id = await startRecovery(own)
    const { key: relay } = await own.newKey('relay')
    const { id: keyId, key: revoked } = await own.newKey('gate', 'live')
    await app.platform.keys.revoke(ACTOR, keyId)
    for (const [headers, status] of [
      [{}, 422],
      [bearer(own.key), 422],
      [bearer(other.key), 404],
      [bearer(revoked), 401],
      [bearer('garbage'), 401],
      [bearer(relay), 403],
    ] as [Record<string, string>, number][])
      expect((await submit(id, headers)).status).toBe(status)
  })

  test('answers the preflight requests of other sites', async () => {
    const { status, headers } = await app.raw(action(UNKNOWN_ID), { method: 'OPTIONS' })
    expect(status).toBe(204)
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(headers.get('access-control-allow-credentials')).toBeNull()
  })
})

test('The callback of a provider refuses browsers that were not sent there', async () => {
  for (const provider of ['github', 'apple'])
    for (const query of ['', '?state=x&code=y', '?error=access_denied']) {
      const answer = await app.raw(`${SELF_SERVICE}/methods/oidc/callback/${provider}${query}`)
      expect(answer.status).toBe(403)
      expect(answer.headers.get('content-type')).toStartWith('text/html')
    }
  expect((await app.raw(`${SELF_SERVICE}/methods/oidc/callback/nothing`)).status).toBe(404)
})
