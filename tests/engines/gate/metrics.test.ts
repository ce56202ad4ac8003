import { expect, test } from 'bun:test'
import {
  ACTOR,
  AUTHORIZE,
  bootGate,
  type Fixture,
  IDENTITIES,
  type Json,
  TOKENS,
} from './fixture.ts'

const EVALUATION = '/access/v1/evaluation'

/** The lines of a metric, by their labels. */
async function metric({ app }: Fixture, name: string): Promise<Record<string, number>> {
  const lines: string[] = (await app.raw('/metrics')).body.split('\n')
  return Object.fromEntries(
    lines
      .filter((line) => line.startsWith(`gatehouse_${name}{`))
      .map((line) => {
        const [, labels, value] = /{(.*)} (.*)$/.exec(line) ?? []
        return [labels, Number(value)]
      }),
  )
}

const decisions = (fixture: Fixture) => metric(fixture, 'gate_decisions_total')

const NONE = { 'answer="allowed"': 0, 'answer="denied"': 0 }

const question = (subject: string): Json => ({ subject, action: 'a.read', resource: 'document:1' })

test('Decisions are counted by their answer, on both routes', async () => {
  await using fixture = await bootGate()
  const { id } = await fixture.createIdentity()
  expect(await decisions(fixture)).toEqual(NONE)

  for (const subject of [id, id, id, 'svc-1', 'svc-1'])
    await fixture.api.post(AUTHORIZE, question(subject))
  await fixture.api.post(EVALUATION, {
    subject: { type: 'user', id },
    action: { name: 'a.read' },
    resource: { type: 'document', id: '1' },
  })

  expect(await decisions(fixture)).toEqual({ 'answer="allowed"': 4, 'answer="denied"': 2 })
})

test('Refused questions are not counted', async () => {
  await using fixture = await bootGate()
  await fixture.api.post(AUTHORIZE, { ...question('svc-1'), context: null })
  await fixture.app.client('garbage').post(AUTHORIZE, question('svc-1'))
  expect(await decisions(fixture)).toEqual(NONE)
})

test('Requests are counted by the template of their route, not by ids', async () => {
  await using fixture = await bootGate()
  const { id } = await fixture.createIdentity()
  await fixture.api.get(`${IDENTITIES}/${id}`)
  await fixture.api.get(`${IDENTITIES}/nobody`)
  await fixture.app.raw(TOKENS, { method: 'POST' })

  const requests = await metric(fixture, 'http_requests_total')
  expect(requests).toMatchObject({
    'route="/v1/gate/identities/:identity_id",method="GET",status="200"': 1,
    'route="/v1/gate/identities/:identity_id",method="GET",status="404"': 1,
    'route="/v1/gate/tokens",method="POST",status="400"': 1,
  })
  expect(Object.keys(requests).join()).not.toContain(id)
})

test('Refusals are counted by code, and those of pages by status', async () => {
  await using fixture = await bootGate()
  const { body: flow } = await fixture.api.get('/v1/gate/auth/login')
  await fixture.app.platform.tenants.suspend(ACTOR, fixture.acme.id, 'billing')
  const link = `/auth/self-service/registration?from=${flow.id}`
  expect((await fixture.app.raw(link)).status).toBe(402)
  expect((await fixture.api.get('/v1/gate/auth/login')).status).toBe(402)

  expect(await metric(fixture, 'refusals_total')).toMatchObject({ 'code="account_suspended"': 1 })
  expect(await metric(fixture, 'http_requests_total')).toMatchObject({
    'route="/auth/self-service/:kind",method="GET",status="402"': 1,
    'route="/v1/gate/auth/login",method="GET",status="402"': 1,
  })
})

test('Metrics contain no tenant, key or identity', async () => {
  await using fixture = await bootGate()
  const { id } = await fixture.createIdentity()
  await fixture.api.post(AUTHORIZE, question(id))
  const { body } = await fixture.app.raw('/metrics')
  for (const name of [id, fixture.acme.id, fixture.key, 'person-']) expect(body).not.toContain(name)
  expect(body).toContain('# HELP gatehouse_gate_decisions_total ')
  expect(body).toContain('# TYPE gatehouse_gate_decisions_total counter')
})
