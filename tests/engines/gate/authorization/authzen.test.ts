import { describe, expect, test } from 'bun:test'
import type { TestApp } from '../../../support/app.ts'
import {
  AUTHORIZE,
  bootGate,
  bootParty,
  coded,
  count,
  type Fixture,
  type Json,
  SETTINGS,
} from '../fixture.ts'

const EVALUATION = '/access/v1/evaluation'

/** The example of the specification, about whoever it is. */
const evaluation = (fields: Json = {}): Json => ({
  subject: { type: 'user', id: 'alice@example.com' },
  resource: { type: 'account', id: '123' },
  action: { name: 'can_read', properties: { method: 'GET' } },
  context: { time: '2026-10-26T01:22-07:00' },
  ...fields,
})

const evaluate = ({ api }: Pick<Fixture, 'api'>, fields: Json = {}) =>
  api.post(EVALUATION, evaluation(fields))

async function decisionOf(fixture: Fixture, { body }: { body: Json }): Promise<Json> {
  return (await fixture.api.get(`${AUTHORIZE}/decisions/${body.context.decision_id}`)).body
}

const setPolicies = (fixture: Fixture, policies: string) =>
  fixture.api.put(`${SETTINGS}/policies`, { policies })

describe('an evaluation', () => {
  test('answers with a decision, and with where to look it up', async () => {
    await using fixture = await bootGate()

    const denied = await evaluate(fixture)

    expect(denied.status).toBe(200)
    expect(denied.headers.get('content-type')).toStartWith('application/json')
    expect(denied.body).toEqual({
      decision: false,
      context: {
        decision_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        reason: 'no policy permits this',
      },
    })
    await setPolicies(fixture, '@id("x") permit (principal, action, resource);')
    expect((await evaluate(fixture)).body).toMatchObject({
      decision: true,
      context: { reason: 'permitted by policy "x"' },
    })
  })

  test('needs no more than who, what and with what', async () => {
    await using fixture = await bootGate()
    const { id } = await fixture.createIdentity()
    const { body } = await fixture.api.post(EVALUATION, {
      subject: { type: 'user', id },
      action: { name: 'account.read' },
      resource: { type: 'account', id: '123' },
    })
    expect(body.decision).toBe(true)
  })

  test('is the same question as /authorize, and kept like it', async () => {
    await using fixture = await bootGate()
    const { id } = await fixture.createIdentity()
    const answer = await evaluate(fixture, {
      subject: { type: 'identity', id },
      action: { name: 'orders.read' },
      resource: { type: 'shop:order', id: '7' },
    })
    expect(answer.body.decision).toBe(true)
    expect(await decisionOf(fixture, answer)).toMatchObject({
      subject: id,
      action: 'orders.read',
      resource: 'shop:order:7',
      context: { time: '2026-10-26T01:22-07:00' },
      allowed: true,
    })
    expect(count(fixture.app, 'gate_decisions')).toBe(1)
  })

  test('knows people whatever type the caller gives them', async () => {
    await using fixture = await bootGate()
    const { id } = await fixture.createIdentity()
    for (const type of ['user', 'identity', 'service', 'x'])
      expect(
        (await evaluate(fixture, { subject: { type, id }, action: { name: 'a.read' } })).body,
      ).toMatchObject({ decision: true })
  })

  test('says nothing of another tenant', async () => {
    await using fixture = await bootGate()
    const other = await bootParty(fixture.app)
    const { id } = await fixture.createIdentity({ metadata_public: { roles: ['admin'] } })
    const ask = async (resource: Json) =>
      (
        await evaluate(fixture, {
          subject: { type: 'user', id },
          action: { name: 'a.read' },
          resource,
        })
      ).body
    expect(await ask({ type: 'tenant', id: fixture.acme.id })).toMatchObject({ decision: true })
    for (const resource of [
      { type: 'tenant', id: other.id },
      { type: 'gate:key', id: other.keyId },
      { type: 'identity', id: (await other.createIdentity()).id },
    ])
      expect(await ask(resource)).toMatchObject({ decision: false })
  })
})

describe('properties', () => {
  test('are context.properties to policies, and kept with the decision', async () => {
    await using fixture = await bootGate()
    await setPolicies(
      fixture,
      `permit (principal, action, resource) when {
        context.properties.subject.department == "Sales" &&
        context.properties.action.method == "GET" &&
        context.properties.resource.owner == "bob" &&
        context.ip == "192.0.2.1"
      };`,
    )
    const fields = {
      subject: { type: 'user', id: 'alice', properties: { department: 'Sales' } },
      resource: { type: 'account', id: '1', properties: { owner: 'bob' } },
      context: { ip: '192.0.2.1' },
    }

    const answer = await evaluate(fixture, fields)

    expect(answer.body.decision).toBe(true)
    expect((await decisionOf(fixture, answer)).context).toEqual({
      ip: '192.0.2.1',
      properties: {
        subject: { department: 'Sales' },
        action: { method: 'GET' },
        resource: { owner: 'bob' },
      },
    })
    const other = { type: 'user', id: 'alice', properties: { department: 'IT' } }
    expect((await evaluate(fixture, { ...fields, subject: other })).body.decision).toBe(false)
  })

  test('are refused beside a member of the context by that name', async () => {
    await using fixture = await bootGate()
    const answer = await evaluate(fixture, { context: { properties: { action: { method: 'x' } } } })
    expect(answer).toMatchObject(coded(400, 'invalid_payload', 'context.properties: '))
  })

  test('give nobody a role', async () => {
    await using fixture = await bootGate()
    const { id } = await fixture.createIdentity()
    const properties = { roles: ['admin'], metadata: { roles: ['admin'] } }
    expect(
      (await evaluate(fixture, { subject: { type: 'user', id, properties } })).body.decision,
    ).toBe(false)
  })

  test.each([
    ['null in them', { n: null }, 'context.properties.subject.n'],
    ['a fraction in them', { n: 0.5 }, 'context.properties.subject.n'],
    ['too much in them', { n: 'x'.repeat(8192) }, 'context: must be at most 8 KB'],
  ])('with %s are refused', async (_, properties, words) => {
    await using fixture = await bootGate()
    expect(
      await evaluate(fixture, { subject: { type: 'user', id: 'a', properties } }),
    ).toMatchObject(coded(400, 'invalid_payload', words))
  })
})

describe('X-Request-ID', () => {
  const submit = (app: TestApp, key: string, id: string, body: Json = evaluation()) =>
    app.raw(EVALUATION, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'x-request-id': id,
      },
      body: JSON.stringify(body),
    })

  test.each(['bfe9eb29-ab87-4ca3-be83-a1d5d8305716', 'a', 'A.b:c_d-1', 'x'.repeat(128)])(
    '%s comes back',
    async (id) => {
      await using fixture = await bootGate()
      const answer = await submit(fixture.app, fixture.key, id)
      expect(answer.status).toBe(200)
      expect(answer.headers.get('x-request-id')).toBe(id)
    },
  )

  test('comes back with refusals, and stands in their body', async () => {
    await using fixture = await bootGate()
    for (const [key, body, status] of [
      [fixture.key, {}, 400],
      [fixture.key, evaluation({ action: { name: '*' } }), 400],
      ['garbage', evaluation(), 401],
      [(await fixture.acme.key('relay')).key, evaluation(), 403],
    ] as const) {
      const answer = await submit(fixture.app, key, 'mine-1', body)
      expect(answer.status).toBe(status)
      expect(answer.headers.get('x-request-id')).toBe('mine-1')
      expect(answer.body.error.request_id).toBe('mine-1')
    }
  })

  test.each(['x'.repeat(129), 'a b', 'a"b', 'ä', '<script>', '{}'])(
    'that is %j gets one of ours in its place',
    async (id) => {
      await using fixture = await bootGate()
      const answer = await submit(fixture.app, fixture.key, id)
      expect(answer.status).toBe(200)
      expect(answer.headers.get('x-request-id')).toStartWith('req_')
    },
  )

  test('is taken from nobody on other routes', async () => {
    await using fixture = await bootGate()
    const answer = await fixture.app.raw(`${AUTHORIZE}/decisions`, {
      headers: { authorization: `Bearer ${fixture.key}`, 'x-request-id': 'mine-1' },
    })
    expect(answer.headers.get('x-request-id')).toStartWith('req_')
  })
})

describe('a malformed evaluation answers 400, with its member by name', () => {
  const { subject, action, resource } = evaluation()

  test.each([
    ['subject', undefined, 'subject: is required'],
    ['subject', null, 'subject: must be a JSON object'],
    ['subject', 'alice', 'subject: must be a JSON object'],
    ['subject', { type: 'user' }, 'subject.id: is required'],
    ['subject', { id: 'alice' }, 'subject.type: is required'],
    ['subject', { ...subject, id: '' }, 'subject.id: must be a string of 1 to 256 characters'],
    ['subject', { ...subject, id: 5 }, 'subject.id: must be a string of 1 to 256 characters'],
    ['subject', { ...subject, type: '' }, 'subject.type: must be a string'],
    ['subject', { ...subject, properties: [] }, 'subject.properties: must be a JSON object'],
    ['action', undefined, 'action: is required'],
    ['action', 'read', 'action: must be a JSON object'],
    ['action', {}, 'action.name: is required'],
    ['action', { name: '' }, 'action'],
    ['action', { name: 'a b' }, 'action'],
    ['action', { ...action, properties: 'x' }, 'action.properties: must be a JSON object'],
    ['resource', undefined, 'resource: is required'],
    ['resource', 'account:1', 'resource: must be a JSON object'],
    ['resource', { type: 'account' }, 'resource.id: is required'],
    ['resource', { id: '1' }, 'resource.type: is required'],
    ['resource', { ...resource, id: '' }, 'resource.id: must be a string'],
    ['resource', { ...resource, type: 'Account' }, 'resource'],
    ['context', null, 'context: must be a JSON object'],
    ['context', [], 'context: must be a JSON object'],
    ['context', { a: null }, 'context.a'],
  ])('%s %j', async (member, value, words) => {
    await using fixture = await bootGate()
    expect(await evaluate(fixture, { [member]: value })).toMatchObject(
      coded(400, 'invalid_payload', words),
    )
    expect(count(fixture.app, 'gate_decisions')).toBe(0)
  })

  test('an id with a colon in it is no other resource', async () => {
    await using fixture = await bootGate()
    const { id } = await fixture.createIdentity()
    const asked = { subject: { type: 'user', id }, action: { name: 'a.update' } }
    const answer = await evaluate(fixture, {
      ...asked,
      resource: { type: 'x', id: `identity:${id}` },
    })
    expect(answer.body.decision ?? false).toBe(false)
  })
})

test('an evaluation needs a key of gate with the scope authorize', async () => {
  await using fixture = await bootGate()
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify(evaluation())
  expect(await fixture.app.raw(EVALUATION, { method: 'POST', headers, body })).toMatchObject(
    coded(401, 'unauthenticated', 'missing API key'),
  )
  const { key } = await fixture.acme.key('gate', 'live', ['tokens:write'])
  expect(await evaluate({ api: fixture.app.client(key) })).toMatchObject(
    coded(403, 'forbidden', 'the key lacks the scope authorize'),
  )
})
