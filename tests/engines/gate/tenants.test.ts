import { expect, test } from 'bun:test'
import { createStore } from '../../../src/engines/gate/store.ts'
import { useGate } from './fixture.ts'
import { connect } from './sign-in/flows/acts.ts'
import { AUTH, SELF_SERVICE } from './sign-in/flows/fixture.ts'

// Keys, scopes and foreign ids of the routes for keys are in tests/contract/access.test.ts.

type Headers = Record<string, string>

const gate = await useGate()
const { app } = gate
const bearer = (key: string) => ({ authorization: `Bearer ${key}` })

test("A store finds nothing by another tenant's id", async () => {
  const [own, other] = [await gate.newTenant(), await gate.newTenant()]
  const { id } = await own.createIdentity()
  await own.openSession({ id })
  await connect({ app, clock: gate.clock, tenantId: own.id } as never, { id }, 'github', 'g-1')
  const { addresses, sessions, socialLinks } = createStore(app.db)
  const found = (tenantId: string) => [
    [addresses.of(tenantId, id)].filter(Boolean).length,
    sessions.recent(tenantId, id, 10).length,
    socialLinks.of(tenantId, id).length,
  ]
  expect([found(own.id), found(other.id)]).toEqual([
    [1, 1, 1],
    [0, 0, 0],
  ])
})

test('Settings need a key and a session of one tenant', async () => {
  const [own, other] = [await gate.newTenant(), await gate.newTenant()]
  const { token: ours } = await own.openSession(await own.createIdentity())
  const { token: theirs } = await other.openSession(await other.createIdentity())
  const start = (headers: Headers) => app.raw(`${AUTH}/settings`, { headers })
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

test('The action of a flow is public to read, and takes forms with no key or one of its tenant', async () => {
  const [own, other] = [await gate.newTenant(), await gate.newTenant()]
  const { id } = (await own.api.get(`${AUTH}/recovery`)).body
  const path = `${SELF_SERVICE}/recovery?flow=${id}`
  for (const headers of <Headers[]>[{}, { authorization: 'garbage' }, bearer(other.key)])
    expect(await app.raw(path, { headers })).toMatchObject({ status: 200, body: { id } })
  for (const [headers, status] of <[Headers, number][]>[
    [{}, 422],
    [bearer(own.key), 422],
    [bearer(other.key), 404],
    [bearer('garbage'), 401],
    [bearer((await own.newKey('relay')).key), 403],
  ]) {
    const csrf_token = (await app.raw(path)).body.ui.nodes[0].attributes.value
    const answer = await app.raw(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ csrf_token, method: 'code', email: 'wrong' }),
    })
    expect(answer.status).toBe(status)
  }
})
