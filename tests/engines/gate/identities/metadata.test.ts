import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { startTarget } from '../../../support/target.ts'
import { rest } from '../../relay/fixture.ts'
import type { Json } from '../fixture.ts'
import {
  auditOf,
  bootPeople,
  type Fixture,
  later,
  MINUTE,
  nested,
  ofBytes,
  personPath,
  told,
} from './people.ts'

let fixture: Fixture
beforeAll(async () => {
  fixture = await bootPeople()
})
afterAll(() => fixture.end())

const read = (person: Json) => fixture.api.get(personPath(person, '/metadata'))
const merge = (person: Json, patch: Json) =>
  fixture.api.patch(personPath(person, '/metadata'), patch)

describe('metadata is read bare', () => {
  test.each([
    ['nothing yet', undefined, {}],
    [
      'all that was given',
      { a: { b: [1, null] }, '': 'x', '0': 0 },
      { a: { b: [1, null] }, '': 'x', '0': 0 },
    ],
  ])('%s', async (_, metadata_public, shown) => {
    const person = await fixture.createIdentity({ metadata_public })

    expect(await read(person)).toMatchObject({ status: 200, body: shown })
    expect((await fixture.readIdentity(person)).metadata_public).toEqual(shown)
  })
})

/** RFC 7396, appendix A, as far as both sides are objects; the others are not metadata. */
const EXAMPLES: [Json, Json, Json][] = [
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
]

const OTHERS: [Json, Json, Json][] = [
  [{ a: 1 }, {}, { a: 1 }],
  [{ a: 1 }, { a: {} }, { a: {} }],
  [{ a: { b: 1, c: 2 } }, { a: { b: null } }, { a: { c: 2 } }],
  [{ a: 1 }, { b: null }, { a: 1 }],
  [{}, { a: [null, { b: null }] }, { a: [null, { b: null }] }],
  [{ a: 1 }, { a: false, b: 0, c: '' }, { a: false, b: 0, c: '' }],
  [{}, { metadata_public: { a: 1 } }, { metadata_public: { a: 1 } }],
  [{}, { constructor: { prototype: { x: 1 } } }, { constructor: { prototype: { x: 1 } } }],
  [{ toString: 1 }, { toString: null, valueOf: null }, {}],
]

describe('a merge answers with the merged object, bare', () => {
  test.each([...EXAMPLES, ...OTHERS])('%j with %j', async (metadata_public, patch, merged) => {
    const person = await fixture.createIdentity({ metadata_public })

    const { status, body } = await merge(person, patch)

    expect({ status, body }).toEqual({ status: 200, body: merged })
    expect((await read(person)).body).toEqual(merged)
    const untouched = (identity: Json) => ({ ...identity, metadata_public: null })
    expect(untouched(await fixture.readIdentity(person))).toEqual(untouched(person))
  })

  test('that comes as application/merge-patch+json', async () => {
    const person = await fixture.createIdentity()

    const answer = await fixture.spelled('patch', personPath(person, '/metadata'), '{"a":1}', {
      'content-type': 'application/merge-patch+json',
    })

    expect(answer).toMatchObject({ status: 200, body: { a: 1 } })
  })

  test('of each of many that come at once', async () => {
    const person = await fixture.createIdentity()

    await Promise.all(Array.from({ length: 20 }, (_, n) => merge(person, { [`k${n}`]: n })))

    expect(Object.keys((await read(person)).body)).toHaveLength(20)
  })
})

describe('metadata stays as it is', () => {
  const kept = { a: { b: 1 } }
  let person: Json
  beforeAll(async () => {
    person = await fixture.createIdentity({ metadata_public: kept })
  })

  async function expectKept(text: string, error: string) {
    const { status, body } = await fixture.spelled('patch', personPath(person, '/metadata'), text)
    expect({ status, body }).toEqual({ status: 400, body: { error } })
    expect((await read(person)).body).toEqual(kept)
  }

  test.each(['["c"]', '[]', '"bar"', '1', 'true', 'null', ''])('when %j is merged', (text) =>
    expectKept(text, 'body: must be a JSON object'),
  )

  test.each([
    [
      '{"n":9007199254740993}',
      'metadata_public.n: would lose digits as a number; send it as a string',
    ],
    ['{"a":{"n":-1e400}}', 'metadata_public.a.n: is too large for a number; send it as a string'],
    ['{"__proto__":{"x":1}}', 'metadata_public.__proto__: is a reserved member name'],
    ['{"a":{"__proto__":{"x":1}}}', 'metadata_public.a.__proto__: is a reserved member name'],
    ['{"a":[{"__proto__":null}]}', 'metadata_public.a.0.__proto__: is a reserved member name'],
  ])('when %s is merged', async (text, error) => {
    await expectKept(text, error)
    expect(({} as Json).x).toBeUndefined()
  })

  test('when it would become larger than 64 KiB, however small the merge', async () => {
    const full = await fixture.createIdentity({
      metadata_public: ofBytes(65_536 - ',"b":1'.length),
    })

    expect(await merge(full, { b: 10 })).toMatchObject({
      status: 400,
      body: { error: 'metadata_public: must be at most 65536 bytes as JSON' },
    })
    expect((await merge(full, { b: 1 })).body).toEqual({ ...full.metadata_public, b: 1 })
    expect(await merge(full, { a: null, c: 'x'.repeat(1000) })).toMatchObject({ status: 200 })
  })
})

test('metadata nested as deep as a body can be is kept, and the person can still be read', async () => {
  const person = await fixture.createIdentity()

  expect(await merge(person, nested(64))).toMatchObject({ status: 200, body: nested(64) })
  expect((await fixture.readIdentity(person)).metadata_public).toEqual(nested(64))
  expect(
    await fixture.patch(person, [{ op: 'add', path: '/metadata_public/b', value: 1 }]),
  ).toMatchObject({ status: 200 })
  expect(await merge(person, nested(65))).toMatchObject({
    status: 400,
    body: { error: 'body: must not be nested deeper than 64 levels' },
  })
})

test('a merge leaves its mark on updated_at and in the audit log, and tells no webhook', async () => {
  await using own = await bootPeople()
  await using target = await startTarget()
  const person = await own.createIdentity()
  await own.createWebhook(target.url)
  own.clock.jump(MINUTE)

  await own.api.patch(personPath(person, '/metadata'), { secret: 'sauce' })
  await rest(own.app)

  expect((await own.readIdentity(person)).updated_at).toBe(later(MINUTE))
  const [, ...rows] = auditOf(own.app, `identity:${person.id}`)
  expect(rows).toEqual([
    {
      action: 'identity.updated',
      actor_kind: 'key',
      actor_id: expect.any(String),
      detail: { fields: ['metadata_public'] },
    },
  ])
  expect(told(target)).toEqual([])
})

test('a merge that changes nothing leaves none', async () => {
  await using own = await bootPeople()
  const person = await own.createIdentity({ metadata_public: { a: 1 } })
  own.clock.jump(MINUTE)

  await own.api.patch(personPath(person, '/metadata'), { a: 1, b: null })

  expect(await own.readIdentity(person)).toEqual(person)
  expect(auditOf(own.app, `identity:${person.id}`)).toHaveLength(1)
})
