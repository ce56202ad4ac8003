import { expect, test } from 'bun:test'
import { createOfflineOperators } from '../../../../src/engines/gate/operators/offline.ts'
import { SYSTEM_TENANT_ID } from '../../../../src/platform/system-tenant.ts'
import { testConfig, withClients } from '../../../support/config.ts'
import { IDENTITIES, rowsOf, SESSIONS } from '../fixture.ts'
import { complains } from '../sign-in/flows/acts.ts'
import { nodeNames } from '../sign-in/flows/fixture.ts'
import { bootOperators, CLI, DEVICE, PASSWORD, useOperators } from './fixture.ts'

// Tenants have a provider, operators have none.
const fixture = await useOperators(withClients('github'))
const { gateOperators, gate, platform } = fixture

const ADA = { displayName: 'Ada Berg', password: PASSWORD, isVerified: false }
const NEW_PASSWORD = 'seven green bicycles'

const open = (operator: { id: string }) =>
  fixture.app.db.commit(() => gateOperators.open(operator, DEVICE))

const areActive = (...opened: { token: string }[]): boolean[] =>
  opened.map(({ token }) => {
    try {
      gate.sessions.authenticated(token, SYSTEM_TENANT_ID)
      return true
    } catch {
      return false
    }
  })

const statusWith = async (email: string, password: string) =>
  (await fixture.browser().signIn(await fixture.begin('login'), email, password)).status

const failing = (fields: object) => expect.objectContaining(fields)

test('A new operator has traits, is found by every spelling of the address, and is audited', async () => {
  const row = await gateOperators.create(CLI, { ...ADA, email: 'Ada@Example.com', locale: 'de' })
  expect(row).toMatchObject({ tenantId: SYSTEM_TENANT_ID, schemaId: 'operator', state: 'active' })
  const traits = { email: 'ada@example.com', display_name: 'Ada Berg', locale: 'de' }
  expect(JSON.parse(row.traits)).toEqual(traits)
  expect(gateOperators.find('ADA@example.com')).toEqual(row)
  for (const unknown of ['unknown@example.com', 'no address'])
    expect(gateOperators.find(unknown)).toBeUndefined()
  const { entries } = platform.audit.list({ tenantId: SYSTEM_TENANT_ID, limit: 1 })
  expect(entries).toMatchObject([{ action: 'identity.created', actor: { kind: 'cli' } }])
  const again = gateOperators.create(CLI, { ...ADA, email: 'ada@example.COM' })
  await expect(again).rejects.toThrow(failing({ kind: 'conflict', field: 'traits.email' }))
  for (const isVerified of [true, false]) {
    const { session } = await open(await fixture.operator({ isVerified }))
    expect(session.identity.verifiable_addresses[0]?.verified).toBe(isVerified)
  }
})

test('An operator is refused by the name of the field that is wrong', async () => {
  const email = 'wrong@example.com'
  for (const [field, wrong] of [
    ['traits.email', { email: 'ada' }],
    ['traits.display_name', { displayName: 'x'.repeat(201) }],
    ['traits.locale', { locale: 'deutsch' }],
    ['password', { password: 'seven77' }],
    ['password', { password: email }],
    ['password', { password: 'password1' }],
  ] as const) {
    const created = gateOperators.create(CLI, { ...ADA, email, ...wrong })
    await expect(created).rejects.toThrow(failing({ kind: 'invalid', field }))
  }
  expect(gateOperators.find(email)).toBeUndefined()
})

test('An operator is created in one commit with what its creator adds', async () => {
  const email = 'both@example.com'
  const refused = gateOperators.create(CLI, { ...ADA, email }, () => {
    throw new Error('the link was used before')
  })
  await expect(refused).rejects.toThrow('used before')
  expect(gateOperators.find(email)).toBeUndefined()
  const made: string[] = []
  const { id } = await gateOperators.create(CLI, { ...ADA, email }, ({ id }) => made.push(id))
  expect(made).toEqual([id])
})

test('An operator created from the command line signs in at the server', async () => {
  const offline = createOfflineOperators(platform, testConfig())
  const email = 'offline@example.com'
  await offline.create(CLI, { ...ADA, email })
  expect(offline.find(email)?.email).toBe(email)
  expect(await statusWith(email, PASSWORD)).toBe(303)
  const weak = offline.create(CLI, { ...ADA, email: 'weak@example.com', password: 'password1' })
  await expect(weak).rejects.toThrow(failing({ field: 'password' }))
})

test('A link opens a session that shows it, for active operators alone', async () => {
  const operator = await fixture.operator()
  const opened = await open(operator)
  expect(areActive(opened)).toEqual([true])
  expect(opened.session).toMatchObject({
    authenticator_assurance_level: 'aal1',
    authentication_methods: [{ method: 'link', aal: 'aal1' }],
    devices: [{ ip_address: '192.0.2.7', user_agent: 'test' }],
  })
  fixture.app.db.client.run("UPDATE gate_identities SET state = 'inactive' WHERE id = ?", [
    operator.id,
  ])
  const stranger = await (await fixture.tenant()).createIdentity()
  for (const other of [operator, stranger])
    await expect(open(other)).rejects.toThrow(failing({ kind: 'forbidden' }))
})

test('Sessions of an operator are listed newest first, and end on request', async () => {
  const [ada, bob] = [await fixture.operator(), await fixture.operator()]
  const [one, two, three] = [await open(ada), await open(ada), await open(ada)]
  const ids = gateOperators.sessions.list(ada.id).map(({ id }) => id)
  expect(ids).toEqual([three, two, one].map(({ session }) => session.id))
  const actor = { kind: 'operator', id: bob.id } as const
  const end = ({ id: operatorId }: { id: string }) =>
    gateOperators.sessions.end(actor, { operatorId, sessionId: one.session.id })
  await expect(end(bob)).rejects.toThrow(failing({ kind: 'not_found' }))
  expect(areActive(one)).toEqual([true])
  await end(ada)
  expect(areActive(one, two, three)).toEqual([false, true, true])
  const kept = { operatorId: ada.id, keptSessionId: two.session.id }
  await gateOperators.sessions.endOthers(CLI, kept)
  expect(areActive(two, three)).toEqual([true, false])
  await gateOperators.sessions.endAll(CLI, ada.id)
  expect(areActive(two)).toEqual([false])
})

test('A new password ends all sessions, or all but one', async () => {
  const operator = await fixture.operator()
  const { id: operatorId, email } = operator
  const [one, two] = [await open(operator), await open(operator)]
  const change = (password: string, kept = {}) =>
    gateOperators.changePassword(CLI, { operatorId, password, ...kept })
  await change(NEW_PASSWORD, { keptSessionId: two.session.id })
  expect(areActive(one, two)).toEqual([false, true])
  expect(await statusWith(email, PASSWORD)).toBe(422)
  await expect(change('short')).rejects.toThrow(failing({ field: 'password' }))
  expect(await statusWith(email, NEW_PASSWORD)).toBe(303)
  await change(PASSWORD)
  expect(areActive(two)).toEqual([false])
})

test('The system tenant is in no list, cannot be found, changed or given a key, but has a name', async () => {
  const { tenants, keys } = platform
  const { id } = await fixture.tenant()
  const notFound = failing({ kind: 'not_found' })
  const listed = tenants.list().map((one) => one.id)
  expect([listed.includes(id), listed.includes(SYSTEM_TENANT_ID)]).toEqual([true, false])
  expect(tenants.exists(SYSTEM_TENANT_ID)).toBe(false)
  expect(() => tenants.find(SYSTEM_TENANT_ID)).toThrow(notFound)
  for (const attempt of [
    () => tenants.change(CLI, SYSTEM_TENANT_ID, { plan: 'free' }),
    () => tenants.suspend(CLI, SYSTEM_TENANT_ID, 'billing'),
    () => tenants.resume(CLI, SYSTEM_TENANT_ID),
    () => keys.issue(CLI, { tenantId: SYSTEM_TENANT_ID, engines: ['gate'] }),
  ])
    await expect(attempt()).rejects.toThrow(notFound)
  expect([tenants.nameOf(SYSTEM_TENANT_ID), tenants.nameOf(id)]).toEqual(['Gatehouse', 'Other'])
  expect(() => tenants.nameOf('nothing')).toThrow(notFound)
  const { status } = await fixture.app.raw(`/public/gate/providers/${SYSTEM_TENANT_ID}`)
  expect(status).toBe(404)
})

test('The system tenant is out of reach for keys of tenants, and not metered', async () => {
  await using own = await bootOperators()
  const { id, email } = await own.operator()
  const { api } = await own.tenant()
  const login = await own.begin('login')
  const { location } = await own.browser().signIn(login, email, PASSWORD)
  await own.platform.metering.stop(0)
  for (const table of ['usage_months', 'usage_days']) expect(rowsOf(own.app, table)).toEqual([])
  const { flow, code } = Object.fromEntries(new URL(location).searchParams)
  expect((await api.get(`${IDENTITIES}/${id}`)).status).toBe(403)
  expect((await api.post(`${SESSIONS}/exchange`, { flow, code })).status).toBe(404)
  expect((await api.get(IDENTITIES)).body.data).toEqual([])
})

test('Without a client of their own and a mail server, operators have passwords alone', async () => {
  const flow = await fixture.flowAt(await fixture.begin('login'))
  expect(nodeNames(flow).filter((name) => /^(oidc|code):/.test(name))).toEqual([])
  for (const provider of ['github', 'github-tenant']) {
    const answer = await fixture.send(flow, { method: 'oidc', provider })
    expect(answer).toMatchObject(complains(4900009))
  }
})
