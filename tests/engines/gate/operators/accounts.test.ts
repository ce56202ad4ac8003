import { describe, expect, test } from 'bun:test'
import { openDatabase } from '../../../../src/db/open.ts'
import { createOfflineOperators } from '../../../../src/engines/gate/operators/offline.ts'
import { systemClock } from '../../../../src/platform/clock.ts'
import { openSystemTenant, SYSTEM_TENANT_ID } from '../../../../src/platform/system-tenant.ts'
import { cli } from '../../../support/cli.ts'
import { testConfig } from '../../../support/config.ts'
import { temporaryFolder } from '../../../support/folder.ts'
import { IDENTITIES, rowsOf, SESSIONS } from '../fixture.ts'
import { bootOperators, CLI, NAME, PASSWORD, useOperators } from './fixture.ts'

const fixture = await useOperators()
const { gateOperators, gate, platform } = fixture

const ADA = { displayName: 'Ada Berg', password: PASSWORD, isVerified: false }
const DEVICE = { method: 'link', ipAddress: '192.0.2.7', userAgent: 'test' } as const
const NEW_PASSWORD = 'seven green bicycles'

const open = (operator: { id: string }) =>
  fixture.app.db.commit(() => gateOperators.open(operator, DEVICE))

const isActive = ({ token }: { token: string }): boolean => {
  try {
    gate.sessions.authenticated(token, SYSTEM_TENANT_ID)
    return true
  } catch {
    return false
  }
}

const statusWith = async (email: string, password: string) =>
  (await fixture.browser().signIn(await fixture.begin('login'), email, password)).status

const failing = (fields: object) => expect.objectContaining(fields)

describe('A new operator', () => {
  test('has traits, is found by every spelling of the address, and is audited', async () => {
    const row = await gateOperators.create(CLI, { ...ADA, email: 'Ada@Example.com', locale: 'de' })
    expect(row).toMatchObject({ tenantId: SYSTEM_TENANT_ID, schemaId: 'operator', state: 'active' })
    const traits = { email: 'ada@example.com', display_name: 'Ada Berg', locale: 'de' }
    expect(JSON.parse(row.traits)).toEqual(traits)
    expect(gateOperators.find('ADA@example.com')).toEqual(row)
    expect(gateOperators.find('unknown@example.com')).toBeUndefined()
    expect(gateOperators.find('no address')).toBeUndefined()
    const { entries } = platform.audit.list({ tenantId: SYSTEM_TENANT_ID, limit: 1 })
    expect(entries).toMatchObject([{ action: 'identity.created', actor: { kind: 'cli' } }])
    const again = gateOperators.create(CLI, { ...ADA, email: 'ada@example.COM' })
    await expect(again).rejects.toThrow(failing({ kind: 'conflict', field: 'traits.email' }))
  })

  test.each([true, false])('can have a verified address: %p', async (isVerified) => {
    const { session } = await open(await fixture.operator({ isVerified }))
    expect(session.identity.verifiable_addresses[0]?.verified).toBe(isVerified)
  })

  test.each([
    ['traits.email', { email: 'ada' }],
    ['traits.display_name', { displayName: 'x'.repeat(201) }],
    ['traits.display_name', { displayName: '\u202eadA' }],
    ['traits.locale', { locale: 'deutsch' }],
    ['password', { password: 'seven77' }],
    ['password', { password: 'x'.repeat(1025) }],
    ['password', { password: 'wrong@example.com' }],
    ['password', { password: 'password1' }],
  ])('is refused because of %s: %j', async (field, wrong) => {
    const created = gateOperators.create(CLI, { ...ADA, email: 'wrong@example.com', ...wrong })
    await expect(created).rejects.toThrow(failing({ kind: 'invalid', field }))
    expect(gateOperators.find('wrong@example.com')).toBeUndefined()
  })

  test('is created in one commit with what its creator adds', async () => {
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

  test('can be created from the command line, and then signs in at the server', async () => {
    const offline = createOfflineOperators(platform, testConfig())
    const email = 'offline@example.com'
    await offline.create(CLI, { ...ADA, email })
    expect(offline.find(email)?.email).toBe(email)
    expect(await statusWith(email, PASSWORD)).toBe(303)
    const weak = offline.create(CLI, { ...ADA, email: 'weak@example.com', password: 'password1' })
    await expect(weak).rejects.toThrow(failing({ field: 'password' }))
  })
})

describe('A session opened by a link', () => {
  test('shows that, and its device', async () => {
    const opened = await open(await fixture.operator())
    expect(isActive(opened)).toBe(true)
    expect(opened.session).toMatchObject({
      authenticator_assurance_level: 'aal1',
      authentication_methods: [{ method: 'link', aal: 'aal1' }],
      devices: [{ ip_address: '192.0.2.7', user_agent: 'test' }],
    })
  })

  test('is not for deactivated operators, nor for users of tenants', async () => {
    const operator = await fixture.operator()
    const update = "UPDATE gate_identities SET state = 'inactive' WHERE id = ?"
    fixture.app.db.client.run(update, [operator.id])
    await expect(open(operator)).rejects.toThrow(failing({ kind: 'forbidden' }))
    const stranger = await (await fixture.tenant()).createIdentity()
    await expect(open(stranger)).rejects.toThrow(failing({ kind: 'forbidden' }))
  })
})

describe('Sessions of an operator', () => {
  test('are listed newest first, and end one by one for their owner alone', async () => {
    const [ada, bob] = [await fixture.operator(), await fixture.operator()]
    const [one, two] = [await open(ada), await open(ada)]
    const ids = gateOperators.sessions.list(ada.id).map(({ id }) => id)
    expect(ids).toEqual([two.session.id, one.session.id])
    const actor = { kind: 'operator', id: bob.id } as const
    const end = ({ id: operatorId }: { id: string }) =>
      gateOperators.sessions.end(actor, { operatorId, sessionId: one.session.id })
    await expect(end(bob)).rejects.toThrow(failing({ kind: 'not_found' }))
    expect(isActive(one)).toBe(true)
    await end(ada)
    expect([one, two].map(isActive)).toEqual([false, true])
  })

  test('end all, or all but one, on request and with a new password', async () => {
    const operator = await fixture.operator()
    const { id: operatorId, email } = operator
    const [one, two, three] = [await open(operator), await open(operator), await open(operator)]
    const keep = ({ session }: typeof one) => ({ operatorId, keptSessionId: session.id })
    await gateOperators.sessions.endOthers(CLI, keep(two))
    expect([one, two, three].map(isActive)).toEqual([false, true, false])
    await gateOperators.sessions.endAll(CLI, operatorId)
    expect(isActive(two)).toBe(false)

    const [four, five] = [await open(operator), await open(operator)]
    await gateOperators.changePassword(CLI, { password: NEW_PASSWORD, ...keep(five) })
    expect([four, five].map(isActive)).toEqual([false, true])
    expect(await statusWith(email, PASSWORD)).toBe(422)
    const short = gateOperators.changePassword(CLI, { operatorId, password: 'short' })
    await expect(short).rejects.toThrow(failing({ field: 'password' }))
    expect(await statusWith(email, NEW_PASSWORD)).toBe(303)
    await gateOperators.changePassword(CLI, { operatorId, password: PASSWORD })
    expect(isActive(five)).toBe(false)
  })
})

describe('The system tenant', () => {
  test('is in no list, cannot be found, changed or given a key, but has a name', async () => {
    const { tenants, keys } = platform
    const { id } = await fixture.tenant()
    const notFound = failing({ kind: 'not_found' })
    expect(tenants.list().map((one) => one.id)).toContain(id)
    expect(tenants.list().map((one) => one.id)).not.toContain(SYSTEM_TENANT_ID)
    expect(tenants.exists(SYSTEM_TENANT_ID)).toBe(false)
    expect(() => tenants.find(SYSTEM_TENANT_ID)).toThrow(notFound)
    for (const attempt of [
      () => tenants.change(CLI, SYSTEM_TENANT_ID, { plan: 'free' }),
      () => tenants.suspend(CLI, SYSTEM_TENANT_ID, 'billing'),
      () => tenants.resume(CLI, SYSTEM_TENANT_ID),
      () => keys.issue(CLI, { tenantId: SYSTEM_TENANT_ID, engine: 'gate' }),
    ])
      await expect(attempt()).rejects.toThrow(notFound)
    expect([tenants.nameOf(SYSTEM_TENANT_ID), tenants.nameOf(id)]).toEqual([NAME, 'Acme'])
    expect(() => tenants.nameOf('nothing')).toThrow(notFound)
    const { status } = await fixture.app.raw(`/public/gate/providers/${SYSTEM_TENANT_ID}`)
    expect(status).toBe(404)
  })

  test('is out of reach for the command line', async () => {
    using folder = temporaryFolder()
    const gatehouse = cli(folder.path)
    await gatehouse('tenant', 'create', '--name', 'Acme')
    const db = openDatabase({ dataDir: `${folder.path}/data`, synchronous: 'full' })
    await openSystemTenant({ db, clock: systemClock })
    db.close()
    for (const args of [
      ['export', '--tenant', SYSTEM_TENANT_ID],
      ['tenant', 'show', SYSTEM_TENANT_ID],
      ['tenant', 'suspend', SYSTEM_TENANT_ID, '--reason', 'billing'],
    ])
      expect(await gatehouse(...args)).toMatchObject({ code: 1, out: '' })
    expect((await gatehouse('tenant', 'list')).out).not.toContain(SYSTEM_TENANT_ID)
  })

  test('is out of reach for keys of tenants, and not metered', async () => {
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
})
