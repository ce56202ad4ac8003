import { describe, expect, test } from 'bun:test'
import { audited } from '../console-fixture.ts'
import { gateFixture, HOSTILE, READERS, wayOn } from './gate-fixture.ts'

const PATH = '/console/policies'
const POLICY = '@id("all")\npermit (principal, action, resource);\n'

describe('the page on policies', () => {
  test('is for all who belong to the tenant', async () => {
    await using fixture = await gateFixture()
    expect(await fixture.statuses(PATH)).toEqual(READERS)
    const { body } = await (await fixture.operator('viewer')).open(PATH)
    expect(body).toContain('The starter set is active')
    expect(body).toContain('own-tenant-reads')
    expect(body).not.toContain('name="policies"')
  })

  test('puts policies in force, and goes back to the starter set', async () => {
    await using fixture = await gateFixture()
    const member = await fixture.operator('member')
    const read = async () => (await fixture.apiOfAcme.get('/v1/gate/settings/policies')).body
    const answer = await member.send(PATH, {
      policies: POLICY.replaceAll('\n', '\r\n'),
      version: '0',
    })
    expect(wayOn(answer)).toEqual([303, `${PATH}?done=saved`])
    expect(await read()).toMatchObject({ policies: POLICY, version: 1 })
    const { body } = await member.open(PATH)
    expect(body).toContain('Version 1 is active')
    expect(body).toContain('View the policies of a new tenant')
    expect(wayOn(await member.send(`${PATH}/starter`))).toEqual([303, `${PATH}?done=starter`])
    expect(await read()).toMatchObject({ is_starter_set: true, version: 2 })
    const row = { actor_kind: 'operator', actor_id: member.id, tenant_id: fixture.acme.id }
    expect(audited(fixture, 'policies.changed')).toMatchObject([row, row])
  })

  test('shows each mistake with its line, and keeps what was typed', async () => {
    await using fixture = await gateFixture()
    const { send } = await fixture.operator('member')
    const policies = `${POLICY}\npermit (principal, action, resourc);\n// <script>alert(1)</script>`
    const { status, body } = await send(PATH, { policies, version: '0' })
    expect([status, body]).toEqual([422, expect.stringContaining('Line 4, column ')])
    expect(body).toContain('<code>permit (principal, action, resourc);</code>')
    expect(body).toContain('id="field-policies-error"')
    expect(body).toContain('// &lt;script>alert(1)&lt;/script>')
    const now = await fixture.apiOfAcme.get('/v1/gate/settings/policies')
    expect(now.body.is_starter_set).toBe(true)
  })

  test('takes whatever comes for text', async () => {
    await using fixture = await gateFixture()
    const { send } = await fixture.operator('member')
    for (const policies of [HOSTILE, 'x'.repeat(40_000)]) {
      const { status, body } = await send(PATH, { policies, version: '0' })
      expect(status).toBe(422)
      expect(body).not.toContain('<script>alert')
      expect(body).toContain(policies.slice(-9_000))
    }
  })

  test('asks before it takes the place of what somebody else has written', async () => {
    await using fixture = await gateFixture()
    const { send } = await fixture.operator('member')
    await fixture.apiOfAcme.put('/v1/gate/settings/policies', { policies: POLICY })
    const late = await send(PATH, { policies: '', version: '0' })
    expect([late.status, late.body]).toEqual([
      422,
      expect.stringContaining('Someone else changed the policies'),
    ])
    expect((await send(PATH, { policies: '', version: '1' })).status).toBe(303)
  })

  test('is looked at, not changed, by viewers', async () => {
    await using fixture = await gateFixture()
    const { send } = await fixture.operator('viewer')
    expect((await send(PATH, { policies: POLICY, version: '0' })).status).toBe(403)
    expect((await send(`${PATH}/starter`)).status).toBe(403)
  })

  test('answers a question that is tried, and keeps nothing of it', async () => {
    await using fixture = await gateFixture()
    const { open } = await fixture.operator('viewer')
    const ask = (subject: string, action: string, resource: string) =>
      open(`${PATH}?${new URLSearchParams({ subject, action, resource })}`)
    expect((await ask('billing', 'tenant.read', `tenant:${fixture.acme.id}`)).body).toContain(
      'Denied: no policy permits this',
    )
    await fixture.apiOfAcme.put('/v1/gate/settings/policies', { policies: POLICY })
    const { body } = await ask('billing', 'tenant.read', `tenant:${fixture.acme.id}`)
    expect(body).toContain('Allowed: permitted by')
    const foreign = await ask('billing', 'tenant.read', `tenant:${fixture.other.id}`)
    expect(foreign.body).toContain('Denied: the tenant has no such resource')
    const wrong = await ask('<script>alert(1)</script>', '<script>', 'nothing')
    expect([wrong.status, wrong.body]).toEqual([422, expect.stringContaining('field-resource-err')])
    expect(wrong.body).not.toContain('<script>alert')
    expect(fixture.db.client.query('SELECT * FROM gate_decisions').all()).toEqual([])
  })
})

describe('a question that is tried', () => {
  test('is explained by the policies that decided, and by who asks', async () => {
    await using fixture = await gateFixture()
    const { body: ada } = await fixture.apiOfAcme.post('/v1/gate/identities', {
      schema_id: 'user',
      traits: { email: 'ada@example.com' },
      metadata_public: { roles: ['admin', '<script>'] },
    })
    const { open } = await fixture.operator('viewer')
    const ask = (fields: Record<string, string>) =>
      open(`${PATH}?${new URLSearchParams({ subject: ada.id, ...fields })}`)
    const tenant = `tenant:${fixture.acme.id}`

    const { body } = await ask({ action: 'keys.read', resource: tenant })
    for (const words of [
      'Decided by own-tenant-reads',
      'Decided by tenant-admins',
      'ada@example.com',
      'admin, &lt;script',
      '*, keys.*, *.read',
    ])
      expect(body).toContain(words)
    expect(body).not.toContain('Decided by own-identity')

    await fixture.apiOfAcme.put('/v1/gate/settings/policies', {
      policies: `${POLICY}@id("office-only")\nforbid (principal, action, resource)\nunless { context.ip == "203.0.113.7" };\n`,
    })
    const away = await ask({ action: 'keys.read', resource: tenant, context: '{"ip": "::1"}' })
    expect(away.body).toContain('Decided by office-only')
    expect(away.body).toContain('unless { context.ip')
    const there = await ask({
      action: 'keys.read',
      resource: tenant,
      context: '{"ip": "203.0.113.7"}',
    })
    expect(there.body).toContain('Decided by all')
  })

  test.each(['{"a": ', '[]', '"x"', '<script>alert(1)</script>'])(
    'says beside the context %p what is wrong, and keeps it',
    async (context) => {
      await using fixture = await gateFixture()
      const { open } = await fixture.operator('viewer')
      const fields = { subject: 'a', action: 'b', resource: 'c:d', context }
      const { status, body } = await open(`${PATH}?${new URLSearchParams(fields)}`)
      expect([status, body]).toEqual([422, expect.stringContaining('field-context-error')])
      expect(body).not.toContain('<script>alert')
    },
  )
})

describe('decisions', () => {
  test('are for all who belong to the tenant, and its own', async () => {
    await using fixture = await gateFixture()
    expect(await fixture.statuses(`${PATH}/decisions`)).toEqual(READERS)
    const asked = { subject: 'billing', action: 'invoices.read', resource: 'document:42' }
    const { body: own } = await fixture.apiOfAcme.post('/v1/gate/authorize', asked)
    const { body: foreign } = await fixture.apiOfOther.post('/v1/gate/authorize', asked)
    const { open } = await fixture.operator('viewer')
    const { body } = await open(`${PATH}/decisions`)
    expect(body).toContain(own.decision_id)
    expect(body).not.toContain(foreign.decision_id)
    expect((await open(`${PATH}/decisions/${foreign.decision_id}`)).status).toBe(404)
  })

  test('are found by who they are about, and lead to the question', async () => {
    await using fixture = await gateFixture()
    for (const subject of ['billing', 'reports'])
      await fixture.apiOfAcme.post('/v1/gate/authorize', {
        subject,
        action: 'invoices.read',
        resource: 'document:42',
        context: { note: '<script>alert(1)</script>' },
      })
    const { open } = await fixture.operator('viewer')
    const { body } = await open(`${PATH}/decisions?subject=billing`)
    expect([body.includes('>billing<'), body.includes('>reports<')]).toEqual([true, false])
    expect((await open(`${PATH}/decisions?subject=nobody`)).body).toContain('No matching decisions')
    expect((await open(`${PATH}/decisions?cursor=nonsense`)).status).toBe(422)
    const [, id = ''] = /decisions\/([\w-]{36})/.exec(body) ?? []
    const detail = await open(`${PATH}/decisions/${id}`)
    expect(detail.body).toContain('No policy permits this')
    expect(detail.body).toContain('Starter set (current)')
    expect(detail.body).toContain('subject=billing&amp;action=invoices.read')
    expect(detail.body).not.toContain('<script>alert')
  })
})
