import { describe, expect, test } from 'bun:test'
import {
  AUTHORIZE,
  bootGate,
  coded,
  count,
  DAY,
  type Fixture,
  type Json,
  MINUTE,
  personPath,
  SETTINGS,
  type Tenant,
  UNKNOWN_ID,
  useGate,
} from '../fixture.ts'

const DECISIONS = `${AUTHORIZE}/decisions`
const EVALUATION = '/access/v1/evaluation'

const gate = await useGate()

type Asker = Pick<Tenant, 'api'>

const asked = { subject: 'svc-1', action: 'docs.read', resource: 'document:42' }

async function ask({ api }: Asker, question: Json = {}): Promise<Json> {
  const answer = await api.post(AUTHORIZE, { ...asked, ...question })
  expect(answer).toMatchObject({ status: 200 })
  return answer.body
}

async function read({ api }: Asker, path: string): Promise<Json> {
  const answer = await api.get(path)
  expect(answer).toMatchObject({ status: 200 })
  return answer.body
}

const readDecision = (by: Asker, { decision_id: id }: Json) => read(by, `${DECISIONS}/${id}`)
const idsOf = ({ data }: Json): string[] => data.map(({ decision_id: id }: Json) => id)
const setPolicies = ({ api }: Asker, policies: string) =>
  api.put(`${SETTINGS}/policies`, { policies })

describe('A stored decision', () => {
  test('has everything that it was based on', async () => {
    const acme = await gate.newTenant()
    const { id } = await acme.createIdentity({ metadata_public: { roles: ['admin'] } })
    const resource = `tenant:${acme.id}`
    const context = { amount: 5, tags: ['a'], deep: { x: true } }
    const { decision_id, reason } = await ask(acme, { subject: id, resource, context })
    const made = {
      decision_id,
      at: gate.now(),
      environment: 'live',
      key_id: acme.keyId,
      subject: id,
      action: 'docs.read',
      resource,
      context,
      allowed: true,
      reason,
      policies: ['own-tenant-reads', 'tenant-admins'],
      policies_version: 0,
    }
    expect(await readDecision(acme, { decision_id })).toEqual(made)
    await acme.api.delete(personPath({ id }))
    expect(await readDecision(acme, { decision_id })).toEqual(made)
  })

  test('can be a denial, of a key of either environment', async () => {
    const acme = await gate.newTenant()
    const { id: key_id, key } = await acme.newKey('gate', 'test')
    const sandbox = gate.withKey(key)
    const denied = await ask(sandbox)
    const nothing = { allowed: false, context: {}, policies: [] }
    expect(await readDecision(acme, denied)).toMatchObject({
      ...nothing,
      environment: 'test',
      key_id,
    })
    const unknown = { subject: UNKNOWN_ID, resource: 'relay:key:x' }
    expect(await readDecision(acme, await ask(acme, unknown))).toMatchObject({
      ...nothing,
      ...unknown,
    })
  })

  test('names the version of the policies and up to 20 of those that decided', async () => {
    const acme = await gate.newTenant()
    const permit = (id: string) => `@id("${id}") permit (principal, action, resource);`
    const names = Array.from({ length: 21 }, (_, n) => `p${n + 10}`)
    await setPolicies(acme, names.map(permit).join(''))
    const allowed = await ask(acme)
    await setPolicies(acme, `@id("c") forbid (principal, action, resource); ${permit('a')}`)
    const denied = await ask(acme)
    const policies = names.slice(0, 20)
    expect(await readDecision(acme, allowed)).toMatchObject({ policies, policies_version: 1 })
    expect(await readDecision(acme, denied)).toMatchObject({ policies: ['c'], policies_version: 2 })
  })

  test('can be read by its tenant alone', async () => {
    const [acme, other] = [await gate.newTenant(), await gate.newTenant()]
    const { decision_id: id } = await ask(acme)
    expect(await acme.api.get(`${DECISIONS}/${UNKNOWN_ID}`)).toMatchObject(coded(404, 'not_found'))
    expect(await other.api.get(`${DECISIONS}/${id}`)).toMatchObject(coded(404, 'not_found'))
  })

  test.each([
    [{}, 30 * DAY],
    [{ 'retention-decisions': '2d' }, 2 * DAY],
  ])('is deleted after the time in the settings: %j', async (flags, ms) => {
    await using own = await bootGate({ flags: flags as Record<string, string> })
    const sweepAfter = async ({ clock, app }: Fixture, ms: number) => {
      clock.jump(ms)
      await app.platform.retention.sweep()
    }
    const old = await ask(own)
    await sweepAfter(own, MINUTE)
    const younger = await ask(own)
    await sweepAfter(own, ms - MINUTE)
    expect(idsOf(await read(own, DECISIONS))).toEqual([younger.decision_id, old.decision_id])
    await sweepAfter(own, MINUTE)
    expect(idsOf(await read(own, DECISIONS))).toEqual([younger.decision_id])
    expect(await own.api.get(`${DECISIONS}/${old.decision_id}`)).toMatchObject({ status: 404 })
  })
})

test('Decisions are listed newest first, by subject, and page by page', async () => {
  const [acme, other] = [await gate.newTenant(), await gate.newTenant()]
  const sandbox = gate.withKey((await acme.newKey('gate', 'test')).key)
  await ask(other)
  const [all, mine]: [string[], string[]] = [[], []]
  for (let n = 0; n < 3; n++) {
    mine.unshift((await ask(acme, { subject: 'svc 2' })).decision_id)
    all.unshift(mine[0] as string)
    all.unshift((await ask(sandbox)).decision_id)
  }
  const listed = await read(sandbox, DECISIONS)
  expect(listed).toMatchObject({ has_more: false, next_cursor: null })
  expect(idsOf(listed)).toEqual(all)
  expect(listed.data[0]).toEqual(await readDecision(acme, { decision_id: all[0] }))
  expect(idsOf(await read(acme, `${DECISIONS}?subject=unknown`))).toEqual([])

  for (const [subject, expected] of [
    ['', all],
    ['subject=svc%202&', mine],
  ] as const) {
    const first = await read(acme, `${DECISIONS}?${subject}limit=2`)
    await ask(acme)
    const next = await read(acme, `${DECISIONS}?${subject}cursor=${first.next_cursor}`)
    expect([...idsOf(first), ...idsOf(next)]).toEqual(expected)
  }
})

/** The example of the AuthZEN specification. */
const EXAMPLE = {
  subject: { type: 'user', id: 'alice@example.com' },
  resource: { type: 'account', id: '123' },
  action: { name: 'can_read', properties: { method: 'GET' } },
  context: { time: '2026-10-26T01:22-07:00' },
}
const evaluate = ({ api }: Asker, fields: Json = {}) =>
  api.post(EVALUATION, { ...EXAMPLE, ...fields })

describe('An AuthZEN evaluation', () => {
  test('answers with a decision and its reason', async () => {
    const acme = await gate.newTenant()
    const { status, body } = await evaluate(acme)
    expect(status).toBe(200)
    const reason = 'no policy permits this'
    expect(body).toEqual({ decision: false, context: { decision_id: expect.any(String), reason } })
    await setPolicies(acme, '@id("x") permit (principal, action, resource);')
    const permitted = { decision: true, context: { reason: 'permitted by policy "x"' } }
    expect((await evaluate(acme)).body).toMatchObject(permitted)
  })

  test('is the same question as /authorize, whatever the type of the subject', async () => {
    const [acme, other] = [await gate.newTenant(), await gate.newTenant()]
    const { id } = await acme.createIdentity({ metadata_public: { roles: ['admin'] } })
    const { api } = acme
    const question = { action: { name: 'orders.read' }, resource: { type: 'shop:order', id: '7' } }
    for (const type of ['user', 'identity', 'service', 'x']) {
      const { body } = await api.post(EVALUATION, { ...question, subject: { type, id } })
      expect(body.decision).toBe(true)
      expect(await readDecision(acme, body.context)).toMatchObject({
        ...{ subject: id, action: 'orders.read', resource: 'shop:order:7', allowed: true },
      })
    }
    expect((await read(acme, DECISIONS)).data).toHaveLength(4)
    const subject = { type: 'user', id }
    for (const [resource, decision] of [
      [{ type: 'tenant', id: acme.id }, true],
      [{ type: 'tenant', id: other.id }, false],
      [{ type: 'gate:key', id: other.keyId }, false],
    ] as const)
      expect((await evaluate(acme, { subject, resource })).body.decision).toBe(decision)
  })

  test('takes an id with a colon as an id', async () => {
    const acme = await gate.newTenant()
    const { id } = await acme.createIdentity()
    const resource = { type: 'x', id: `identity:${id}` }
    const fields = { subject: { type: 'user', id }, action: { name: 'a.update' }, resource }
    expect((await evaluate(acme, fields)).body.decision ?? false).toBe(false)
  })

  test('has its properties in the context of policies, where they give no role', async () => {
    const acme = await gate.newTenant()
    const { id } = await acme.createIdentity()
    const roles = { roles: ['admin'], metadata: { roles: ['admin'] } }
    const claimed = await evaluate(acme, { subject: { type: 'user', id, properties: roles } })
    expect(claimed.body.decision).toBe(false)

    await setPolicies(
      acme,
      `permit (principal, action, resource) when {
        context.properties.subject.department == "Sales" &&
        context.properties.action.method == "GET" &&
        context.properties.resource.owner == "bob" &&
        context.ip == "192.0.2.1"
      };`,
    )
    const fields = (department: string) => ({
      subject: { type: 'user', id: 'alice', properties: { department } },
      resource: { type: 'account', id: '1', properties: { owner: 'bob' } },
      context: { ip: '192.0.2.1' },
    })
    const { body } = await evaluate(acme, fields('Sales'))
    expect(body.decision).toBe(true)
    expect((await readDecision(acme, body.context)).context).toEqual({
      ip: '192.0.2.1',
      properties: {
        subject: { department: 'Sales' },
        action: { method: 'GET' },
        resource: { owner: 'bob' },
      },
    })
    expect((await evaluate(acme, fields('IT'))).body.decision).toBe(false)
  })

  const { subject, action, resource } = EXAMPLE
  test.each<[string, Json, string]>([
    ['subject', undefined, 'subject: '],
    ['subject', 'alice', 'subject: '],
    ['subject', { type: 'user' }, 'subject.id: '],
    ['subject', { ...subject, id: '' }, 'subject.id: '],
    ['subject', { id: 'alice' }, 'subject.type: '],
    ['subject', { ...subject, properties: [] }, 'subject.properties: '],
    ['subject', { ...subject, properties: { n: 0.5 } }, 'context.properties.subject.n: '],
    ['subject', { ...subject, properties: { n: 'x'.repeat(8192) } }, 'context: '],
    ['action', {}, 'action.name: '],
    ['action', { name: '*' }, 'action'],
    ['action', { ...action, properties: 'x' }, 'action.properties: '],
    ['resource', { type: 'account' }, 'resource.id: '],
    ['resource', { ...resource, id: '' }, 'resource.id: '],
    ['resource', { ...resource, type: 'Account' }, 'resource'],
    ['context', null, 'context: '],
    ['context', { a: null }, 'context.a: '],
    ['context', { properties: { action: { method: 'x' } } }, 'context.properties: '],
  ])('is refused with the %s %j', async (member, value, field) => {
    const before = count(gate.app, 'gate_decisions')
    const answer = await evaluate(gate, { [member]: value })
    expect(answer).toMatchObject(coded(400, 'invalid_payload', field))
    expect(count(gate.app, 'gate_decisions')).toBe(before)
  })
})

describe('X-Request-ID', () => {
  const send = (key: string, id: string, body: Json = EXAMPLE, path = EVALUATION) =>
    gate.app.raw(path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'x-request-id': id,
      },
      body: JSON.stringify(body),
    })

  test.each([
    ['bfe9eb29-ab87-4ca3-be83-a1d5d8305716', true],
    ['A.b:c_d-1', true],
    ['x'.repeat(128), true],
    ['x'.repeat(129), false],
    ['a b', false],
    ['a"b', false],
    ['ä', false],
    ['<script>', false],
  ])('%s is returned: %p', async (id, isReturned) => {
    const answer = await send(gate.key, id)
    expect(answer.status).toBe(200)
    const returned = answer.headers.get('x-request-id')
    if (isReturned) expect(returned).toBe(id)
    else expect(returned).toStartWith('req_')
  })

  test('is also returned with errors, but only by this route', async () => {
    const acme = await gate.newTenant()
    for (const [key, body, status] of [
      [acme.key, {}, 400],
      ['garbage', EXAMPLE, 401],
      [(await acme.newKey('relay')).key, EXAMPLE, 403],
    ] as const) {
      const answer = await send(key, 'mine-1', body)
      expect(answer.status).toBe(status)
      expect(answer.headers.get('x-request-id')).toBe('mine-1')
      expect(answer.body.error.request_id).toBe('mine-1')
    }
    const elsewhere = await send(acme.key, 'mine-1', asked, AUTHORIZE)
    expect(elsewhere.headers.get('x-request-id')).toStartWith('req_')
  })
})
