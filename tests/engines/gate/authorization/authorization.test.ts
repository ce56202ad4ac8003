import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { ENGINES } from '../../../../src/platform/engines.ts'
import { startTarget, type Target } from '../../../support/target.ts'
import { jobsOf } from '../../clockwork/support.ts'
import { DELIVERIES, manage } from '../../relay/management.ts'
import {
  AUTHORIZE,
  bootGate,
  bootParty,
  coded,
  count,
  type Fixture,
  IDENTITIES,
  type Json,
  UNKNOWN_ID,
} from '../fixture.ts'

const ADMIN = { metadata_public: { roles: ['admin'] } }
const DOCUMENT = 'document:42'

/** One fixture for all: questions change nothing but the log of decisions. */
let fixture: Fixture
let target: Target
let names: Record<string, string>
beforeAll(async () => {
  fixture = await bootGate()
  target = startTarget()
  names = { ...(await people(fixture)), ...(await things(fixture)) }
})
afterAll(async () => {
  await target.stop()
  await fixture.app.stop()
})

type Party = Pick<Fixture, 'app' | 'key' | 'api' | 'createIdentity' | 'setState'>

/** Somebody of each sort, by id. */
async function people({ app, createIdentity, setState, api }: Party) {
  const other = await bootParty(app, 'Other')
  const idOf = async (fields: Json = {}) => (await createIdentity(fields)).id
  const gone = await idOf(ADMIN)
  await api.delete(`${IDENTITIES}/${gone}`)
  const left = await idOf(ADMIN)
  await setState({ id: left }, 'inactive')
  return {
    ada: await idOf(),
    bob: await idOf(),
    admin: await idOf(ADMIN),
    editor: await idOf({ metadata_public: { roles: ['editor', 'Admin', 'admins', ' admin'] } }),
    'admin by traits': await idOf({ traits: { custom_data: { roles: ['admin'] } } }),
    'admin by a word': await idOf({ metadata_public: { roles: 'admin' } }),
    'admin by a map': await idOf({ metadata_public: { roles: { admin: true } } }),
    'admin elsewhere in metadata': await idOf({ metadata_public: { role: 'admin', r: ['admin'] } }),
    'one admin among others': await idOf({ metadata_public: { roles: [5, null, 'x', 'admin'] } }),
    inactive: left,
    deleted: gone,
    'born inactive': await idOf({ ...ADMIN, state: 'inactive' }),
    stranger: (await other.createIdentity(ADMIN)).id,
    unknown: UNKNOWN_ID,
    service: 'svc-1',
  }
}

/** Something of each kind, of this tenant and of another. */
async function things({ app, acme }: Fixture) {
  const other = await app.tenant('Competitor')
  const named: Record<string, string> = {
    tenant: `tenant:${acme.id}`,
    'foreign tenant': `tenant:${other.id}`,
    'unknown tenant': `tenant:${UNKNOWN_ID}`,
    'foreign identity': `identity:${(await (await bootParty(app)).createIdentity()).id}`,
  }
  for (const [whose, tenant] of [
    ['', acme],
    ['foreign ', other],
  ] as const) {
    for (const engine of ENGINES)
      named[`${whose}${engine}:key`] = `${engine}:key:${(await tenant.key(engine)).id}`
    const jobs = jobsOf(app.client((await tenant.key('clockwork')).key), target.url)
    named[`${whose}job`] = `clockwork:job:${(await jobs.createJob({})).id}`
    named[`${whose}delayed`] = `clockwork:delayed:${(await jobs.createDelayed({})).id}`
    for (const environment of ['live', 'test'] as const) {
      const { key } = await tenant.key('relay', environment)
      const relay = manage(app, key, target.url)
      const { id: endpoint } = await relay.createEndpoint()
      const { id: message } = await relay.publish()
      named[`${whose}${environment} endpoint`] = `relay:endpoint:${endpoint}`
      named[`${whose}${environment} message`] = `relay:message:${message}`
      for (const { id } of (await app.client(key).get(DELIVERIES)).body.data)
        named[`${whose}${environment} delivery`] = `relay:delivery:${id}`
    }
  }
  return named
}

/** The answer to a question about somebody, which is always a 200. */
async function ask(subject: string, action: string, resource: string, context?: Json) {
  const answer = await fixture.api.post(AUTHORIZE, { subject, action, resource, context })
  expect(answer).toMatchObject({ status: 200 })
  expect(Object.keys(answer.body)).toEqual(['allowed', 'decision_id', 'reason'])
  return answer.body as { allowed: boolean; decision_id: string; reason: string }
}

const named = (name: string): string => {
  expect(names, name).toHaveProperty([name])
  return names[name] as string
}

/** Each person and thing by the name that it has here. */
const mayDo = (who: string, action: string, resource: string) =>
  ask(named(who), action, named(resource))

/** What one sort of subject may do with a resource, of a reading and a changing action. */
async function rightsOf(who: string, resource: string) {
  const read = await mayDo(who, 'things.read', resource)
  const change = await mayDo(who, 'things.update', resource)
  return { read: read.allowed, change: change.allowed }
}

const NOTHING = { read: false, change: false }
const READING = { read: true, change: false }
const EVERYTHING = { read: true, change: true }

const OWN = [
  'tenant',
  'gate:key',
  'clockwork:key',
  'passepartout:key',
  'relay:key',
  'job',
  'delayed',
  'live endpoint',
  'test endpoint',
  'live message',
  'test message',
  'live delivery',
]
const NOT_OWN = [
  'foreign tenant',
  'unknown tenant',
  'foreign identity',
  'foreign gate:key',
  'foreign clockwork:key',
  'foreign passepartout:key',
  'foreign relay:key',
  'foreign job',
  'foreign delayed',
  'foreign live endpoint',
  'foreign test endpoint',
  'foreign live message',
  'foreign test message',
  'foreign live delivery',
]

describe('by the starter set', () => {
  test('everybody reads what is of their tenant, and changes nothing of it', async () => {
    for (const thing of OWN) expect(await rightsOf('ada', thing), thing).toEqual(READING)
  })

  test('an admin does everything in the tenant', async () => {
    for (const who of ['admin', 'one admin among others'])
      for (const thing of OWN) expect(await rightsOf(who, thing), thing).toEqual(EVERYTHING)
  })

  test('nobody does anything outside the tenant', async () => {
    for (const who of ['ada', 'admin', 'service'])
      for (const thing of NOT_OWN)
        expect(await rightsOf(who, thing), `${who}: ${thing}`).toEqual(NOTHING)
  })

  test('everybody does anything with what they are themselves', async () => {
    const { ada, bob } = names as { ada: string; bob: string }
    for (const action of ['identity.update', 'identity.delete', 'read', 'anything'])
      expect(await ask(ada, action, `identity:${ada}`)).toMatchObject({
        allowed: true,
        reason: expect.stringContaining('"own-identity"'),
      })
    expect((await ask(ada, 'identity.update', `identity:${bob}`)).allowed).toBe(false)
    expect((await ask(ada, 'identity.read', `identity:${bob}`)).allowed).toBe(true)
  })

  test.each([
    ['things.read', true],
    ['things.list', true],
    ['a.b.c.read', true],
    ['read.list', true],
    ['read', false],
    ['list', false],
    ['things.reads', false],
    ['things.unread', false],
    ['things.read.all', false],
    ['things.READ', false],
    ['things.read-all', false],
    ['read.things', false],
  ])('%s is reading: %p', async (action, isReading) => {
    expect((await mayDo('ada', action, 'tenant')).allowed).toBe(isReading)
  })

  test('the reason names what decided, or says that nothing permits', async () => {
    expect((await mayDo('ada', 'x.read', 'tenant')).reason).toBe(
      'permitted by policy "own-tenant-reads"',
    )
    expect((await mayDo('admin', 'x.update', 'tenant')).reason).toBe(
      'permitted by policy "tenant-admins"',
    )
    expect((await mayDo('admin', 'x.read', 'tenant')).reason).toBe(
      'permitted by policies "own-tenant-reads", "tenant-admins"',
    )
    expect((await mayDo('ada', 'x.update', 'tenant')).reason).toBe('no policy permits this')
  })
})

describe('roles are those of metadata_public and no others', () => {
  test.each([
    'editor',
    'admin by traits',
    'admin by a word',
    'admin by a map',
    'admin elsewhere in metadata',
  ])('%s is no admin', async (who) => {
    expect(await rightsOf(who, 'tenant')).toEqual(READING)
  })

  test('the context gives neither a role nor a tenant', async () => {
    for (const context of [
      { roles: ['admin'], role: 'admin' },
      { principal: { roles: ['admin'] }, metadata: { roles: ['admin'] } },
      { metadata_public: { roles: ['admin'] }, subject: { roles: ['admin'] } },
    ])
      expect(await ask(named('ada'), 'x.update', named('tenant'), context)).toMatchObject({
        allowed: false,
      })
    const context = { tenant: names['foreign tenant'], tenant_id: names['foreign tenant'] }
    expect(await ask(named('admin'), 'x.read', named('foreign tenant'), context)).toMatchObject({
      allowed: false,
    })
  })

  test('a role counts from the moment it is given to the moment it is taken', async () => {
    const person = await fixture.createIdentity()
    const change = async (roles: Json) => {
      const path = `${IDENTITIES}/${person.id}/metadata`
      expect(await fixture.api.patch(path, { roles })).toMatchObject({ status: 200 })
      return (await ask(person.id, 'x.update', DOCUMENT)).allowed
    }
    expect(await change(['admin'])).toBe(true)
    expect(await change(['editor'])).toBe(false)
    expect(await change(['editor', 'admin'])).toBe(true)
    expect(await change(null)).toBe(false)
  })
})

describe('a subject that may do nothing, whatever it asks for', () => {
  test.each([
    ['inactive', 'the subject is inactive'],
    ['born inactive', 'the subject is inactive'],
    ['deleted', 'the subject is unknown'],
    ['stranger', 'the subject is unknown'],
    ['unknown', 'no policy permits this'],
  ])('is one that is %s', async (who, reason) => {
    for (const resource of [named('tenant'), DOCUMENT, `identity:${names.ada}`])
      expect(await ask(named(who), 'x.read', resource)).toMatchObject({ allowed: false, reason })
    expect((await ask(named(who), 'x.read', `identity:${named(who)}`)).allowed).toBe(false)
  })

  test('is the id of a person in capitals', async () => {
    expect(await ask(named('admin').toUpperCase(), 'x.read', DOCUMENT)).toMatchObject({
      allowed: false,
      reason: 'no policy permits this',
    })
  })

  test('is the address of a person: people go by their id', async () => {
    const { traits } = await fixture.createIdentity(ADMIN)
    expect((await ask(traits.email, 'x.read', DOCUMENT)).allowed).toBe(false)
  })

  test('is a service, until somebody writes a policy for it', async () => {
    expect(await ask('svc-1', 'x.read', DOCUMENT)).toMatchObject({
      allowed: false,
      reason: 'no policy permits this',
    })
  })

  test('is one who has just been deactivated, and no longer one who is back', async () => {
    const person = await fixture.createIdentity(ADMIN)
    const answer = async () => (await ask(person.id, 'x.update', DOCUMENT)).allowed
    expect(await answer()).toBe(true)
    await fixture.setState(person, 'inactive')
    expect(await answer()).toBe(false)
    await fixture.setState(person, 'active')
    expect(await answer()).toBe(true)
  })
})

describe('a resource', () => {
  test('of another tenant is answered like one that there is not', async () => {
    const reasons = await Promise.all(
      [
        ...NOT_OWN.map(named),
        `identity:${UNKNOWN_ID}`,
        ...ENGINES.map((engine) => `${engine}:key:${UNKNOWN_ID}`),
        `clockwork:job:${UNKNOWN_ID}`,
        `relay:endpoint:${UNKNOWN_ID}`,
      ].map(async (resource) => (await ask(named('admin'), 'x.read', resource)).reason),
    )
    expect(new Set(reasons)).toEqual(new Set(['the tenant has no such resource']))
  })

  test('that is a key goes by the name of its own engine', async () => {
    const id = named('gate:key').replace('gate:key:', '')
    for (const engine of ['clockwork', 'passepartout', 'relay'])
      expect((await ask(named('admin'), 'x.read', `${engine}:key:${id}`)).allowed).toBe(false)
  })

  test('that is a revoked key is still the tenant’s', async () => {
    const { id } = await fixture.acme.key('relay', 'live')
    await fixture.app.platform.keys.revoke({ kind: 'cli', source: 'test' }, id)
    expect((await ask(named('admin'), 'x.read', `relay:key:${id}`)).allowed).toBe(true)
  })

  test('that was deleted is nobody’s', async () => {
    const { id } = await fixture.createIdentity()
    expect((await ask(named('admin'), 'x.read', `identity:${id}`)).allowed).toBe(true)
    await fixture.api.delete(`${IDENTITIES}/${id}`)
    expect((await ask(named('admin'), 'x.read', `identity:${id}`)).allowed).toBe(false)
  })

  test.each(['gate:nothing:1', 'clockwork:nothing:1', 'relay:nothing:1', 'passepartout:x:y:1'])(
    '%s is of a kind that no engine has',
    async (resource) => {
      expect((await ask(named('admin'), 'x.read', resource)).allowed).toBe(false)
    },
  )

  test.each([
    DOCUMENT,
    'shop:order:7',
    'a-b-c:d_e:f',
    'gates:key:1',
    'document:x/y?z=1',
    'document:ü 😀',
    'document:tenant',
    'tenants:1',
    `document:${'x'.repeat(247)}`,
  ])('%s is of a kind of the own making', async (resource) => {
    expect((await ask(named('admin'), 'x.update', resource)).allowed).toBe(true)
    expect((await ask(named('ada'), 'x.read', resource)).allowed).toBe(true)
    expect((await ask(named('ada'), 'x.update', resource)).allowed).toBe(false)
  })

  test('is asked about in either environment: people are the same', async () => {
    const { key } = await fixture.acme.key('gate', 'test')
    const question = { subject: names.ada, action: 'x.read', resource: named('live endpoint') }
    expect((await fixture.app.client(key).post(AUTHORIZE, question)).body.allowed).toBe(true)
  })

  test('is judged for the tenant that asks', async () => {
    const other = await bootParty(fixture.app)
    const person = await other.createIdentity(ADMIN)
    const ofOther = async (resource: string) =>
      (await other.api.post(AUTHORIZE, { subject: person.id, action: 'x.read', resource })).body
    expect(await ofOther(`tenant:${other.id}`)).toMatchObject({ allowed: true })
    expect(await ofOther(named('tenant'))).toMatchObject({ allowed: false })
    expect(await ofOther(named('job'))).toMatchObject({ allowed: false })
  })
})

describe('a malformed question', () => {
  const good = { subject: 'svc-1', action: 'x.read', resource: DOCUMENT }
  const deep = (levels: number): Json => (levels === 0 ? 1 : { a: deep(levels - 1) })
  const lists = (levels: number): Json => (levels === 0 ? 1 : [lists(levels - 1)])

  const WRONG: [string, unknown][] = [
    ['subject', undefined],
    ['subject', null],
    ['subject', 5],
    ['subject', ''],
    ['subject', ['svc-1']],
    ['subject', { id: 'svc-1' }],
    ['subject', 'x'.repeat(257)],
    ['subject', 'svc\n1'],
    ['subject', 'svc\u0000'],
    ['subject', '\u0085'],
    ['action', undefined],
    ['action', null],
    ['action', 5],
    ['action', ''],
    ['action', '.'],
    ['action', '*'],
    ['action', 'x.*'],
    ['action', '.read'],
    ['action', 'x.'],
    ['action', 'x..read'],
    ['action', 'x read'],
    ['action', ' x.read'],
    ['action', 'x.read\n'],
    ['action', 'x:read'],
    ['action', 'é.read'],
    ['action', 'x"read'],
    ['action', ['x.read']],
    ['action', `${'x'.repeat(252)}.read`],
    ['resource', undefined],
    ['resource', null],
    ['resource', 5],
    ['resource', ''],
    ['resource', 'document'],
    ['resource', 'document:'],
    ['resource', ':42'],
    ['resource', ':'],
    ['resource', '::'],
    ['resource', 'a::b'],
    ['resource', 'Document:42'],
    ['resource', 'tenant :42'],
    ['resource', '4d:42'],
    ['resource', 'a--b:1'],
    ['resource', 'document-:1'],
    ['resource', 'ä:1'],
    ['resource', 'a"b:1'],
    ['resource', 'document:4\n2'],
    ['resource', `document:${'x'.repeat(248)}`],
    ['resource', ['document:42']],
    ['context', null],
    ['context', 'x'],
    ['context', 5],
    ['context', []],
    ['context', [{ a: 1 }]],
    ['context', { a: null }],
    ['context', { a: [1, null] }],
    ['context', { a: 1.5 }],
    ['context', { a: { b: [0.1] } }],
    ['context', { a: 2 ** 53 }],
    ['context', { a: 1e300 }],
    ['context', { __entity: { type: 'Role', id: 'admin' } }],
    ['context', { a: { __extn: { fn: 'ip', arg: 'x' } } }],
    ['context', { a: [{ __expr: 'true' }] }],
    ['context', deep(9)],
    ['context', { a: lists(8) }],
    ['context', { a: 'x'.repeat(8192) }],
    ['context', Object.fromEntries(Array.from({ length: 2000 }, (_, n) => [`k${n}`, n]))],
  ]

  test('answers 400 with the name of the member, and is not kept', async () => {
    const before = count(fixture.app, 'gate_decisions')
    for (const [member, value] of WRONG) {
      const answer = await fixture.api.post(AUTHORIZE, { ...good, [member]: value })
      const shown = JSON.stringify(value)?.slice(0, 60)
      expect(`${answer.body.error?.message}`, `${member} ${shown}`).toStartWith(member)
      expect(answer).toMatchObject(coded(400, 'invalid_payload', member))
    }
    expect(count(fixture.app, 'gate_decisions')).toBe(before)
  })

  test('names the place in the context', async () => {
    const question = { ...good, context: { a: { 'b c': [1, { d: null }] } } }
    expect(await fixture.api.post(AUTHORIZE, question)).toMatchObject(
      coded(400, 'invalid_payload', 'context.a["b c"][1].d: must not be null'),
    )
  })

  test('with a member named for the prototype answers 400', async () => {
    const answer = await fixture.app.raw(AUTHORIZE, {
      method: 'POST',
      headers: { authorization: `Bearer ${fixture.key}`, 'content-type': 'application/json' },
      body: '{"subject":"s","action":"a.read","resource":"document:1","context":{"__proto__":{}}}',
    })
    expect(answer).toMatchObject(coded(400, 'invalid_payload', 'context.__proto__'))
  })

  test('has bounds that can be reached', async () => {
    for (const [member, value] of [
      ['subject', 'x'.repeat(256)],
      ['subject', 'service account/7:ü'],
      ['action', `${'x'.repeat(251)}.read`],
      ['action', 'read'],
      ['action', 'A_b-1.c'],
      ['context', {}],
      ['context', deep(8)],
      ['context', { a: 'x'.repeat(8192 - '{"a":""}'.length) }],
      ['context', { a: Number.MAX_SAFE_INTEGER, b: Number.MIN_SAFE_INTEGER, c: 2e3 }],
      ['context', { '': 'x', 'ü.[]"': [[], {}, true, ['a', 1]] }],
    ] as [string, unknown][])
      expect(
        await fixture.api.post(AUTHORIZE, { ...good, [member]: value }),
        `${member} ${JSON.stringify(value).slice(0, 60)}`,
      ).toMatchObject({ status: 200 })
  })

  test('says nothing about members that nobody asked for', async () => {
    expect(await fixture.api.post(AUTHORIZE, { ...good, tenant_id: 'x', roles: 5 })).toMatchObject({
      status: 200,
    })
  })
})

test('a suspended tenant still gets its answers', async () => {
  await using own = await bootGate()
  const { id } = await own.createIdentity()
  await own.app.platform.tenants.suspend({ kind: 'cli', source: 'test' }, own.acme.id, 'billing')
  const question = { subject: id, action: 'x.read', resource: DOCUMENT }
  expect(await own.api.post(AUTHORIZE, question)).toMatchObject({
    status: 200,
    body: { allowed: true },
  })
})

test('an answer has an id of its own each time', async () => {
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => mayDo('ada', 'x.read', 'tenant')),
  )
  expect(new Set(answers.map(({ decision_id: id }) => id)).size).toBe(20)
})
