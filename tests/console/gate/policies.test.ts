import { describe, expect, test } from 'bun:test'
import { audited } from '../console-world.ts'
import { gateWorld, HOSTILE, READERS, wayOn } from './gate-world.ts'

const PATH = '/console/policies'
const POLICY = '@id("all")\npermit (principal, action, resource);\n'

describe('the page on policies', () => {
  test('is for all who belong to the tenant', async () => {
    await using world = await gateWorld()
    expect(await world.statuses(PATH)).toEqual(READERS)
    const { body } = await (await world.visitor('viewer')).open(PATH)
    expect(body).toContain('The starter set is in force, as it comes.')
    expect(body).toContain('own-tenant-reads')
    expect(body).not.toContain('<textarea')
  })

  test('puts policies in force, and goes back to the starter set', async () => {
    await using world = await gateWorld()
    const member = await world.visitor('member')
    const read = async () => (await world.apiOfAcme.get('/v1/gate/settings/policies')).body
    const answer = await member.send(PATH, {
      policies: POLICY.replaceAll('\n', '\r\n'),
      version: '0',
    })
    expect(wayOn(answer)).toEqual([303, `${PATH}?done=saved`])
    expect(await read()).toMatchObject({ policies: POLICY, version: 1 })
    const { body } = await member.open(PATH)
    expect(body).toContain('Version 1 is in force')
    expect(body).toContain('What a tenant begins with')
    expect(wayOn(await member.send(`${PATH}/starter`))).toEqual([303, `${PATH}?done=starter`])
    expect(await read()).toMatchObject({ is_starter_set: true, version: 2 })
    const row = { actor_kind: 'operator', actor_id: member.id, tenant_id: world.acme.id }
    expect(audited(world, 'policies.changed')).toMatchObject([row, row])
  })

  test('shows each mistake with its line, and keeps what was typed', async () => {
    await using world = await gateWorld()
    const { send } = await world.visitor('member')
    const policies = `${POLICY}\npermit (principal, action, resourc);\n// <script>alert(1)</script>`
    const { status, body } = await send(PATH, { policies, version: '0' })
    expect([status, body]).toEqual([422, expect.stringContaining('Line 4, column ')])
    expect(body).toContain('<code>permit (principal, action, resourc);</code>')
    expect(body).toContain('id="field-policies-error"')
    expect(body).toContain('// &lt;script>alert(1)&lt;/script>')
    const now = await world.apiOfAcme.get('/v1/gate/settings/policies')
    expect(now.body.is_starter_set).toBe(true)
  })

  test('takes whatever comes for text', async () => {
    await using world = await gateWorld()
    const { send } = await world.visitor('member')
    for (const policies of [HOSTILE, 'x'.repeat(40_000)]) {
      const { status, body } = await send(PATH, { policies, version: '0' })
      expect(status).toBe(422)
      expect(body).not.toContain('<script>alert')
      expect(body).toContain(policies.slice(-9_000))
    }
  })

  test('asks before it takes the place of what somebody else has written', async () => {
    await using world = await gateWorld()
    const { send } = await world.visitor('member')
    await world.apiOfAcme.put('/v1/gate/settings/policies', { policies: POLICY })
    const late = await send(PATH, { policies: '', version: '0' })
    expect([late.status, late.body]).toEqual([422, expect.stringContaining('have changed since')])
    expect((await send(PATH, { policies: '', version: '1' })).status).toBe(303)
  })

  test('is looked at, not changed, by viewers', async () => {
    await using world = await gateWorld()
    const { send } = await world.visitor('viewer')
    expect((await send(PATH, { policies: POLICY, version: '0' })).status).toBe(403)
    expect((await send(`${PATH}/starter`)).status).toBe(403)
  })

  test('answers a question that is tried, and keeps nothing of it', async () => {
    await using world = await gateWorld()
    const { open } = await world.visitor('viewer')
    const ask = (subject: string, action: string, resource: string) =>
      open(`${PATH}?${new URLSearchParams({ subject, action, resource })}`)
    expect((await ask('billing', 'tenant.read', `tenant:${world.acme.id}`)).body).toContain(
      'Not allowed: no policy permits this',
    )
    await world.apiOfAcme.put('/v1/gate/settings/policies', { policies: POLICY })
    const { body } = await ask('billing', 'tenant.read', `tenant:${world.acme.id}`)
    expect(body).toContain('Allowed: permitted by')
    const foreign = await ask('billing', 'tenant.read', `tenant:${world.other.id}`)
    expect(foreign.body).toContain('Not allowed: the tenant has no such resource')
    const wrong = await ask('<script>alert(1)</script>', '<script>', 'nothing')
    expect([wrong.status, wrong.body]).toEqual([422, expect.stringContaining('field-resource-err')])
    expect(wrong.body).not.toContain('<script>alert')
    expect(world.db.client.query('SELECT * FROM gate_decisions').all()).toEqual([])
  })
})
