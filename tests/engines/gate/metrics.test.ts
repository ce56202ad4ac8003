import { expect, test } from 'bun:test'
import { ACTOR, AUTHORIZE, bootGate, IDENTITIES, type Json, TOKENS } from './fixture.ts'

test('Decisions, requests and refusals are counted, without a tenant, key or identity', async () => {
  await using fixture = await bootGate()
  const { app, api, acme } = fixture
  /** The lines of a metric, by their labels. */
  async function metric(name: string): Promise<Record<string, number>> {
    const lines: string[] = (await app.raw('/metrics')).body.split('\n')
    const found = lines.filter((line) => line.startsWith(`gatehouse_${name}{`))
    return Object.fromEntries(
      found.map((line) => {
        const [, labels, value] = /{(.*)} (.*)$/.exec(line) ?? []
        return [labels, Number(value)]
      }),
    )
  }
  const counts = (allowed: number, denied: number) => ({
    'answer="allowed"': allowed,
    'answer="denied"': denied,
  })
  const { id } = await fixture.createIdentity()
  expect(await metric('gate_decisions_total')).toEqual(counts(0, 0))
  const question = { subject: id, action: 'a.read', resource: 'document:1' }
  const service = { ...question, subject: 'svc-1' }
  for (const asked of [question, question, question, service, service])
    await api.post(AUTHORIZE, asked)
  await api.post('/access/v1/evaluation', {
    subject: { type: 'user', id },
    action: { name: 'a.read' },
    resource: { type: 'document', id: '1' },
  })
  await api.post(AUTHORIZE, { ...service, context: null })
  await app.client('garbage').post(AUTHORIZE, service)
  expect(await metric('gate_decisions_total')).toEqual(counts(4, 2))

  const { body: flow } = await api.get('/v1/gate/auth/login')
  await api.get(`${IDENTITIES}/${id}`)
  await api.get(`${IDENTITIES}/unknown`)
  await app.raw(TOKENS, { method: 'POST' })
  await app.platform.tenants.suspend(ACTOR, acme.id, 'billing')
  const link = `/auth/self-service/registration?from=${flow.id}`
  expect((await app.raw(link)).status).toBe(402)
  expect((await api.get('/v1/gate/auth/login')).status).toBe(402)
  expect(await metric('http_requests_total')).toMatchObject({
    'route="/v1/gate/identities/:identity_id",method="GET",status="200"': 1,
    'route="/v1/gate/identities/:identity_id",method="GET",status="404"': 1,
    'route="/v1/gate/tokens",method="POST",status="400"': 1,
    'route="/auth/self-service/:kind",method="GET",status="402"': 1,
    'route="/v1/gate/auth/login",method="GET",status="402"': 1,
  })
  // Those of pages are counted by status alone.
  expect(await metric('refusals_total')).toMatchObject({ 'code="account_suspended"': 1 })

  const { body }: Json = await app.raw('/metrics')
  for (const name of [id, acme.id, fixture.key, 'person-']) expect(body).not.toContain(name)
  expect(body).toContain('# HELP gatehouse_gate_decisions_total ')
  expect(body).toContain('# TYPE gatehouse_gate_decisions_total counter')
})
