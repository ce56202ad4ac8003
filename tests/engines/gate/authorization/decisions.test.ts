import { expect, test } from 'bun:test'
import {
  ACTOR,
  AUTHORIZE,
  bodyOf,
  coded,
  count,
  DAY,
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

const JSON_TYPE = { 'content-type': 'application/json' }

const gate = await useGate({ flags: { 'retention-decisions': '2d' } })

type Asker = Pick<Tenant, 'api'>

const asked = { subject: 'svc-1', action: 'docs.read', resource: 'document:42' }

const ask = ({ api }: Asker, question: Json = {}): Promise<Json> =>
  bodyOf(api.post(AUTHORIZE, { ...asked, ...question }))
const read = ({ api }: Asker, path: string): Promise<Json> => bodyOf(api.get(path))

const readDecision = (by: Asker, { decision_id: id }: Json) => read(by, `${DECISIONS}/${id}`)
const idsOf = ({ data }: Json): string[] => data.map(({ decision_id: id }: Json) => id)
const setPolicies = ({ api }: Asker, policies: string) =>
  api.put(`${SETTINGS}/policies`, { policies })

test('A stored decision has everything that it was based on, for its tenant alone', async () => {
  const [acme, other] = [await gate.newTenant(), await gate.newTenant()]
  const { id } = await acme.createIdentity({ metadata_public: { roles: ['admin'] } })
  const resource = `tenant:${acme.id}`
  const context = { amount: 5, tags: ['a'], deep: { x: true } }
  const { decision_id, reason } = await ask(acme, { subject: id, resource, context })
  await acme.api.delete(personPath({ id }))
  expect(await readDecision(acme, { decision_id })).toEqual({
    ...{ decision_id, at: gate.now(), environment: 'live', key_id: acme.keyId },
    ...{ subject: id, action: 'docs.read', resource, context, allowed: true, reason },
    ...{ policies: ['own-tenant-reads', 'tenant-admins'], policies_version: 0 },
  })
  const notFound = coded(404, 'not_found')
  expect(await acme.api.get(`${DECISIONS}/${UNKNOWN_ID}`)).toMatchObject(notFound)
  expect(await other.api.get(`${DECISIONS}/${decision_id}`)).toMatchObject(notFound)

  const { id: key_id, key } = await acme.newKey('gate', 'test')
  const unknown = { subject: UNKNOWN_ID, resource: 'relay:key:x' }
  expect(await readDecision(acme, await ask(gate.withKey(key), unknown))).toMatchObject({
    ...{ ...unknown, environment: 'test', key_id, allowed: false, context: {}, policies: [] },
  })
})

test('A decision names the version of the policies and 20 of those that decided', async () => {
  const acme = await gate.newTenant()
  const permit = (id: string) => `@id("${id}") permit (principal, action, resource);`
  const names = Array.from({ length: 21 }, (_, n) => `p${n + 10}`)
  await setPolicies(acme, names.map(permit).join(''))
  const allowed = await readDecision(acme, await ask(acme))
  await setPolicies(acme, `@id("c") forbid (principal, action, resource); ${permit('a')}`)
  const denied = await readDecision(acme, await ask(acme))
  expect([allowed.policies_version, allowed.policies]).toEqual([1, names.slice(0, 20)])
  expect([denied.policies_version, denied.policies]).toEqual([2, ['c']])
})

test('A decision is deleted after the time in the settings', async () => {
  const acme = await gate.newTenant()
  const { decision_id: old } = await ask(acme)
  gate.clock.jump(MINUTE)
  const { decision_id: younger } = await ask(acme)
  for (const [ms, ids] of [
    [2 * DAY - MINUTE, [younger, old]],
    [MINUTE, [younger]],
  ] as const) {
    gate.clock.jump(ms)
    await gate.app.platform.retention.sweep()
    expect(idsOf(await read(acme, DECISIONS))).toEqual([...ids])
  }
})

test('Decisions of both environments are listed newest first, and by subject', async () => {
  const [acme, other] = [await gate.newTenant(), await gate.newTenant()]
  const sandbox = gate.withKey((await acme.newKey('gate', 'test')).key)
  await ask(other)
  const { decision_id: mine } = await ask(acme, { subject: 'svc 2' })
  const { decision_id: last } = await ask(sandbox)
  const listed = await read(sandbox, DECISIONS)
  expect(listed).toMatchObject({ has_more: false, next_cursor: null })
  expect(idsOf(listed)).toEqual([last, mine])
  expect(listed.data[0]).toEqual(await readDecision(acme, { decision_id: last }))
  for (const [subject, ids] of [
    ['unknown', []],
    ['svc%202', [mine]],
  ] as const)
    expect(idsOf(await read(acme, `${DECISIONS}?subject=${subject}`))).toEqual([...ids])
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

test('An AuthZEN evaluation is the same question as /authorize, for any type of subject', async () => {
  const [acme, other] = [await gate.newTenant(), await gate.newTenant()]
  const denied = await evaluate(acme)
  const context = { decision_id: expect.any(String), reason: 'no policy permits this' }
  expect(denied).toMatchObject({ status: 200, body: { decision: false, context } })

  const { id } = await acme.createIdentity({ metadata_public: { roles: ['admin'] } })
  const question = { action: { name: 'orders.read' }, resource: { type: 'shop:order', id: '7' } }
  for (const type of ['user', 'x']) {
    const { body } = await evaluate(acme, { ...question, subject: { type, id } })
    const context = { reason: expect.stringContaining('permitted') }
    expect(body).toMatchObject({ decision: true, context })
    const stored = { subject: id, action: 'orders.read', resource: 'shop:order:7', allowed: true }
    expect(await readDecision(acme, body.context)).toMatchObject(stored)
  }
  const { id: plain } = await acme.createIdentity()
  for (const [subject, resource, decision] of [
    [id, { type: 'tenant', id: acme.id }, true],
    [id, { type: 'tenant', id: other.id }, false],
    // The id contains a colon, and is not the identity's.
    [plain, { type: 'x', id: `identity:${plain}` }, false],
  ] as const) {
    const fields = { subject: { type: 'user', id: subject }, resource }
    expect((await evaluate(acme, fields)).body.decision ?? false).toBe(decision)
  }
})

test('AuthZEN properties are in the context of policies, and give no role', async () => {
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
  for (const department of ['IT', 'Sales']) {
    const { body } = await evaluate(acme, {
      subject: { type: 'user', id: 'alice', properties: { department } },
      resource: { type: 'account', id: '1', properties: { owner: 'bob' } },
      context: { ip: '192.0.2.1' },
    })
    expect(body.decision).toBe(department === 'Sales')
    const { method } = EXAMPLE.action.properties
    expect((await readDecision(acme, body.context)).context).toEqual({
      ip: '192.0.2.1',
      properties: { subject: { department }, action: { method }, resource: { owner: 'bob' } },
    })
  }
})

test('A malformed AuthZEN evaluation is refused and not stored', async () => {
  const { subject, resource } = EXAMPLE
  const before = count(gate.app, 'gate_decisions')
  for (const [member, value, field] of <[string, Json, string][]>[
    ['subject', { ...subject, properties: { n: 0.5 } }, 'context.properties.subject.n: '],
    ['subject', { ...subject, properties: { n: 'x'.repeat(8192) } }, 'context: '],
    ['action', { name: '*' }, 'action'],
    ['resource', { ...resource, type: 'Account' }, 'resource'],
    ['context', { a: null }, 'context.a: '],
    ['context', { properties: { action: { method: 'x' } } }, 'context.properties: '],
  ])
    expect(await evaluate(gate, { [member]: value })).toMatchObject(
      coded(400, 'invalid_payload', field),
    )
  expect(count(gate.app, 'gate_decisions')).toBe(before)
})

test('X-Request-ID is returned by the AuthZEN route alone, also with errors', async () => {
  const { key, newKey } = await gate.newTenant()
  const send = async (id: string, by = key, body: Json = EXAMPLE, path = EVALUATION) => {
    const answer = await gate.app.raw(path, {
      method: 'POST',
      headers: { authorization: `Bearer ${by}`, 'x-request-id': id, ...JSON_TYPE },
      body: JSON.stringify(body),
    })
    return { ...answer, returned: answer.headers.get('x-request-id') }
  }
  for (const id of ['bfe9eb29-ab87-4ca3-be83-a1d5d8305716', 'A.b:c_d-1', 'x'.repeat(128)])
    expect(await send(id)).toMatchObject({ status: 200, returned: id })
  for (const id of ['x'.repeat(129), 'a b', 'a"b', 'ä', '<script>'])
    expect((await send(id)).returned).toStartWith('req_')
  for (const [by, body, status] of [
    [key, {}, 400],
    ['garbage', EXAMPLE, 401],
    [(await newKey('relay')).key, EXAMPLE, 403],
  ] as const) {
    const refused = { status, returned: 'mine-1', body: { error: { request_id: 'mine-1' } } }
    expect(await send('mine-1', by, body)).toMatchObject(refused)
  }
  expect((await send('mine-1', key, asked, AUTHORIZE)).returned).toStartWith('req_')
})

test('Decisions, requests and refusals are counted, without a tenant, key or identity', async () => {
  const acme = await gate.newTenant()
  const { app } = gate
  const { id } = await acme.createIdentity()
  const text = async (): Promise<string> => (await app.raw('/metrics')).body
  const counted = async (name: string) => {
    const line = (await text()).split('\n').find((one) => one.startsWith(`gatehouse_${name}`))
    return Number(line?.split(' ').at(-1) ?? 0)
  }
  const all = () =>
    Promise.all(
      [
        'gate_decisions_total{answer="allowed"}',
        'gate_decisions_total{answer="denied"}',
        'http_requests_total{route="/v1/gate/auth/login",method="GET",status="402"}',
        'http_requests_total{route="/auth/self-service/:kind",method="GET",status="402"}',
        // Those of pages are counted by status alone.
        'refusals_total{code="account_suspended"}',
      ].map(counted),
    )
  const before = await all()
  for (const subject of [id, id, 'svc-1']) await ask(acme, { subject })
  await evaluate(acme)
  await acme.api.post(AUTHORIZE, { ...asked, context: null })
  await app.client('garbage').post(AUTHORIZE, asked)
  const { body: flow } = await acme.api.get('/v1/gate/auth/login')
  await app.platform.tenants.suspend(ACTOR, acme.id, 'billing')
  await app.raw(`/auth/self-service/registration?from=${flow.id}`)
  await acme.api.get('/v1/gate/auth/login')
  const added = (await all()).map((count, n) => count - (before[n] as number))
  expect(added).toEqual([2, 2, 1, 1, 1])
  for (const name of [id, acme.id, acme.key, 'person-']) expect(await text()).not.toContain(name)
})
