import { describe, expect, test } from 'bun:test'
import { openDatabase } from '../../../../src/db/open.ts'
import { systemClock } from '../../../../src/platform/clock.ts'
import { openSystemTenant, SYSTEM_TENANT_ID } from '../../../../src/platform/system-tenant.ts'
import { cli } from '../../../support/cli.ts'
import { temporaryFolder } from '../../../support/folder.ts'
import { IDENTITIES, SESSIONS } from '../fixture.ts'
import { bootOperators, CLI, NAME, PASSWORD } from './fixture.ts'

describe('the system tenant', () => {
  test('for lists, and for whoever knows its id', async () => {
    await using fixture = await bootOperators()
    const { tenants } = fixture.platform
    const { id } = await fixture.tenant()

    expect(tenants.list().map((one) => one.id)).toEqual([id])
    expect(tenants.exists(SYSTEM_TENANT_ID)).toBe(false)
    expect(() => tenants.find(SYSTEM_TENANT_ID)).toThrow('tenant not found')
    expect(tenants.change(CLI, SYSTEM_TENANT_ID, { plan: 'free' })).rejects.toThrow(
      'tenant not found',
    )
    expect(tenants.suspend(CLI, SYSTEM_TENANT_ID, 'billing')).rejects.toThrow('tenant not found')
    expect(tenants.resume(CLI, SYSTEM_TENANT_ID)).rejects.toThrow('tenant not found')
  })

  test('but has a name for those who sign in to it', async () => {
    await using fixture = await bootOperators()
    const { id } = await fixture.tenant()
    const { tenants } = fixture.platform
    expect([tenants.nameOf(SYSTEM_TENANT_ID), tenants.nameOf(id)]).toEqual([NAME, 'Acme'])
    expect(() => tenants.nameOf('nothing')).toThrow('tenant not found')
  })

  test('for keys', async () => {
    await using fixture = await bootOperators()
    const issued = fixture.platform.keys.issue(CLI, { tenantId: SYSTEM_TENANT_ID, engine: 'gate' })
    expect(issued).rejects.toThrow('tenant not found')
  })

  test('for the command line, which exports, lists and suspends it not', async () => {
    using folder = temporaryFolder()
    const gatehouse = cli(folder.path)
    await gatehouse('tenant', 'create', '--name', 'Acme')
    const db = openDatabase({ dataDir: `${folder.path}/data`, synchronous: 'full' })
    await openSystemTenant({ db, clock: systemClock })
    db.close()

    const refused = { code: 1, out: '', err: expect.stringContaining('tenant not found') }
    expect(await gatehouse('export', '--tenant', SYSTEM_TENANT_ID)).toMatchObject(refused)
    expect(await gatehouse('tenant', 'show', SYSTEM_TENANT_ID)).toMatchObject(refused)
    expect(
      await gatehouse('tenant', 'suspend', SYSTEM_TENANT_ID, '--reason', 'billing'),
    ).toMatchObject(refused)
    expect((await gatehouse('tenant', 'list')).out).not.toContain(SYSTEM_TENANT_ID)
  })

  test('for the public, which learns of no provider of it', async () => {
    await using fixture = await bootOperators()
    const { status } = await fixture.app.raw(`/public/gate/providers/${SYSTEM_TENANT_ID}`)
    expect(status).toBe(404)
  })

  test('for tenants, whose keys reach no operator, no session and no flow of it', async () => {
    await using fixture = await bootOperators()
    const { id, email } = await fixture.operator()
    const { api } = await fixture.tenant()
    const login = await fixture.begin('login')
    const { location } = await fixture.browser().signIn(login, email, PASSWORD)
    const { flow, code } = Object.fromEntries(new URL(location).searchParams)

    expect((await api.get(`${IDENTITIES}/${id}`)).status).toBe(403)
    expect((await api.post(`${SESSIONS}/exchange`, { flow, code })).status).toBe(404)
    expect((await api.get(IDENTITIES)).body.data).toEqual([])
  })

  test('for whoever counts: nothing that operators do is metered', async () => {
    await using fixture = await bootOperators()
    const { email } = await fixture.operator()
    await fixture.signedIn(
      await fixture.browser().signIn(await fixture.begin('login'), email, PASSWORD),
    )
    await fixture.platform.metering.stop(0)
    for (const table of ['usage_months', 'usage_days'])
      expect(fixture.app.db.client.query(`SELECT * FROM ${table}`).all()).toEqual([])
  })
})
