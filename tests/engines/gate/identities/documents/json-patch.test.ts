import { describe, expect, test } from 'bun:test'
import type { Json, JsonObject } from '../../../../../src/engines/gate/identities/documents/json.ts'
import {
  applyJsonPatch,
  type PatchRules,
} from '../../../../../src/engines/gate/identities/documents/json-patch.ts'
import {
  type Projection,
  patchIdentity,
  setsState,
} from '../../../../../src/engines/gate/identities/documents/projection.ts'
import { frozen, nested, refusalOf, ruleOf } from './support.ts'

const RULES: PatchRules = {
  refusal: ([first]) => (first === 'secret' ? 'secrets stay' : undefined),
  mostOperations: 200,
  mostBytes: 65_536,
  mostLevels: 64,
}

const patched = (document: JsonObject, operations: unknown[], rules = RULES) =>
  applyJsonPatch(frozen(document), frozen(operations), rules)

const broken = (document: JsonObject, operation: unknown, rules = RULES) =>
  ruleOf(() => patched(document, [operation], rules))

interface Operation {
  op: string
  path: string
  from?: string
  value?: number
}

/** Every operation with the pointer in every position. */
const everywhere = (pointer: string, other = '/a'): Operation[] => [
  ...['add', 'remove', 'replace', 'test'].map((op) => ({ op, path: pointer, value: 1 })),
  ...['move', 'copy'].flatMap((op) => [
    { op, path: pointer, from: other },
    { op, path: '/x', from: pointer },
  ]),
]

// Ordinary operations are in json-patch-suite.test.ts and json-patch-random.test.ts.
test.each<[JsonObject, object, JsonObject]>([
  [{ a: 1 }, { op: 'remove', path: '/a', value: { b: Number.POSITIVE_INFINITY } }, {}],
  [{}, { op: 'add', path: '/b', value: 1, from: 7, xyz: 2 }, { b: 1 }],
  [{ a: { x: 1 } }, { op: 'move', from: '/a/x', path: '/a' }, { a: 1 }],
  [{ a: 1 }, { op: 'move', from: '/a', path: '/a' }, { a: 1 }],
  [{ a: {}, ab: {} }, { op: 'move', from: '/a', path: '/ab/a' }, { ab: { a: {} } }],
  [
    { a: [0, { b: 1 }, {}] },
    { op: 'move', from: '/a/0', path: '/a/1/x' },
    { a: [{ b: 1 }, { x: 0 }] },
  ],
  [{ a: { b: 1 } }, { op: 'copy', from: '/a', path: '/a/c' }, { a: { b: 1, c: { b: 1 } } }],
  [{ a: { '01': 1 } }, { op: 'move', from: '/a/01', path: '/a/1e0' }, { a: { '1e0': 1 } }],
  [{ a: { '-': 2 } }, { op: 'remove', path: '/a/-' }, { a: {} }],
])('%j after %j', (before, operation, after) => {
  expect(patched(before, [operation])).toEqual(after)
})

test('A replaced member keeps its position, and a copy is independent of its source', () => {
  const replaced = patched({ a: 1, b: 2 }, [{ op: 'replace', path: '/a', value: 3 }])
  expect(JSON.stringify(replaced)).toBe('{"a":3,"b":2}')
  const copy = { op: 'copy', from: '/a', path: '/c' }
  const push = (list: string, value: number) => ({ op: 'add', path: `${list}/-`, value })
  const copied = patched({ a: [1] }, [copy, push('/c', 2), push('/a', 3)])
  expect(copied).toEqual({ a: [1, 3], c: [1, 2] })
})

describe('An operation is refused', () => {
  const document = { a: [1, 2], b: { c: 1 }, t: 'text', n: null }

  test.each<[unknown, string]>([
    [null, 'type'],
    [[], 'type'],
    ['remove', 'type'],
    [{}, 'op choice'],
    [{ op: 'Add', path: '/a', value: 1 }, 'op choice'],
    [{ op: 'toString', path: '/a' }, 'op choice'],
    [{ op: ['add'], path: '/a', value: 1 }, 'op choice'],
    [{ op: 'remove' }, 'path required'],
    [{ op: 'remove', path: ['a'] }, 'path required'],
    [{ op: 'remove', path: 'a' }, 'path format'],
    [{ op: 'remove', path: '#/a' }, 'path format'],
    [{ op: 'remove', path: '/a~2' }, 'path format'],
    [{ op: 'copy', path: '/a' }, 'from required'],
    [{ op: 'move', path: '/a', from: 1 }, 'from required'],
    [{ op: 'copy', path: '/a', from: 'b' }, 'from format'],
    [{ op: 'add', path: '/a' }, 'value required'],
    [{ op: 'replace', path: '/a' }, 'value required'],
    [{ op: 'test', path: '/n' }, 'value required'],
    [{ op: 'add', path: '/a', value: 1e300 }, 'value range'],
    [
      JSON.parse('{"op":"add","path":"/x","value":[{"__proto__":1}]}'),
      'value.0.__proto__ reserved',
    ],
    [JSON.parse('{"op":"test","path":"/x","value":{"__proto__":1}}'), 'value.__proto__ reserved'],
    [{ op: 'add', path: '/x/y/z', value: 1 }, 'unknown'],
    [{ op: 'add', path: '/a/0/x', value: 1 }, 'type'],
    [{ op: 'add', path: '/a/-/x', value: 1 }, 'range'],
    [{ op: 'add', path: '/t/x', value: 1 }, 'type'],
    [{ op: 'move', path: '/x', from: '/x' }, 'unknown'],
    [{ op: 'move', path: '/a/2', from: '/a/0' }, 'range'],
    [{ op: 'move', path: '/b/c/x', from: '/b' }, 'not_allowed'],
    [{ op: 'move', path: '/b/x', from: '/b' }, 'not_allowed'],
    [{ op: 'copy', path: '/a/3', from: '/b' }, 'range'],
    [{ op: 'test', path: '/b', value: { c: '1' } }, 'mismatch'],
    [{ op: 'test', path: '/n', value: {} }, 'mismatch'],
    [{ op: 'test', path: '/x', value: null }, 'unknown'],
    [{ op: 'add', path: `/a/${'9'.repeat(400)}`, value: 0 }, 'range'],
    [{ op: 'remove', path: `/a/${'9'.repeat(400)}` }, 'unknown'],
  ])('%j: %s', (operation, rule) => expect(broken(document, operation)).toBe(rule))

  test.each(['/x', '/a/2', '/a/-', '/a/0/x', '/t/0', '/n/x'])('where %s does not exist', (path) => {
    for (const operation of everywhere(path).filter(({ op, from }) => op !== 'add' && !from))
      expect(broken(document, operation)).toBeString()
    expect(broken(document, { op: 'copy', path: '/y', from: path })).toBeString()
  })

  test.each(['00', '01', '+1', '-1', '1.0', '1e0', ' 1', '', 'x', '0x1', '١', 'length'])(
    'for the array index "%s"',
    (token) => {
      for (const operation of everywhere(`/a/${token}`, '/b'))
        expect(broken(document, operation)).toBe('range')
    },
  )

  test('where the rules exclude its path or source', () => {
    for (const path of ['/secret', '/secret/a'])
      for (const operation of everywhere(path))
        expect(broken({ a: 1, secret: { a: 1 } }, operation)).toBe('not_allowed')
    const seen: string[][] = []
    const refusal: PatchRules['refusal'] = (tokens) => void seen.push([...tokens])
    broken({}, { op: 'copy', from: '/a~1b/~01', path: '/c~0d/' }, { ...RULES, refusal })
    expect(seen).toEqual([
      ['c~d', ''],
      ['a/b', '~1'],
    ])
  })

  test('with a message of limited length', () => {
    const path = `/${'a'.repeat(100_000)}`
    const refusal = refusalOf(() => patched({}, [{ op: 'move', path, from: path }]))
    expect(refusal?.message.length).toBeLessThan(700)
  })
})

test('The error names the first failed operation by its index', () => {
  const operations = [
    { op: 'add', path: '/b', value: 1 },
    { op: 'move', from: '/b', path: '/c' },
    { op: 'remove', path: '/b' },
    { op: 'spam' },
  ]
  expect(refusalOf(() => patched({}, operations))?.message).toStartWith('operation 2 (remove /b): ')
})

test('A patch is a list of up to 200 operations, and changes nothing of its input', () => {
  const tests = (count: number) => Array(count).fill({ op: 'test', path: '/a', value: 1 })
  for (const count of [0, 200]) expect(patched({ a: 1 }, tests(count))).toEqual({ a: 1 })
  for (const body of [tests(201), null, {}, 'x', { length: 1, 0: {} }])
    expect(ruleOf(() => applyJsonPatch({ a: 1 }, body, RULES))).toBe('body type')
  const source = { a: { b: [1] } }
  const value = { d: [2] }
  // biome-ignore lint/suspicious/noExplicitAny: the result has the members added above
  const result = applyJsonPatch(source, [{ op: 'add', path: '/c', value }], RULES) as any
  result.a.b.push(9)
  result.c.d.push(9)
  expect([source, value]).toEqual([{ a: { b: [1] } }, { d: [2] }])
})

describe('Prototypes', () => {
  test('__proto__ is refused as a name, in every position', () => {
    for (const pointer of ['/__proto__', '/a/__proto__', '/a/__proto__/x', '/__proto__/toString'])
      for (const operation of everywhere(pointer))
        expect(broken({ a: {} }, operation)).toBe('not_allowed')
  })

  test('Inherited members can be neither read nor changed', () => {
    for (const name of ['constructor', 'toString', '__defineGetter__', 'at'])
      for (const outer of ['', '/a', '/b', '/c'])
        for (const operation of [
          ...everywhere(`${outer}/${name}`).filter(
            ({ op, path }) => op !== 'add' && path !== `${outer}/${name}`,
          ),
          { op: 'remove', path: `${outer}/${name}` },
          { op: 'replace', path: `${outer}/${name}`, value: 1 },
          { op: 'add', path: `${outer}/${name}/prototype`, value: 1 },
        ])
          expect(broken({ a: {}, b: [], c: 'text' }, operation)).toBeString()
  })

  test('An own member may have an inherited name', () => {
    const document = patched({ a: { constructor: 1 }, toString: 2 } as unknown as JsonObject, [
      { op: 'copy', from: '/a/constructor', path: '/prototype' },
      { op: 'add', path: '/a/constructor', value: { prototype: {} } },
      { op: 'add', path: '/a/constructor/prototype/x', value: 3 },
      { op: 'move', from: '/toString', path: '/hasOwnProperty' },
    ])
    expect(JSON.stringify(document)).toBe(
      '{"a":{"constructor":{"prototype":{"x":3}}},"prototype":1,"hasOwnProperty":2}',
    )
    expect(({} as Record<string, unknown>).x).toBeUndefined()
  })
})

describe('The size of the document', () => {
  const small: PatchRules = { ...RULES, mostBytes: 100, mostLevels: 5 }

  test('is counted in bytes of JSON', () => {
    // {"a":1,"b":"…"} takes 14 bytes without the text.
    const add = (length: number) =>
      broken({ a: 1 }, { op: 'add', path: '/b', value: 'é'.repeat(length) }, small)
    expect(add(43)).toBeUndefined()
    expect(add(44)).toBe('too_large')
  })

  test.each<object>([
    { op: 'add', path: '/b/-', value: 'x'.repeat(60) },
    { op: 'add', path: `/${'x'.repeat(60)}`, value: 1 },
    { op: 'replace', path: '/n', value: 'x'.repeat(60) },
    { op: 'copy', from: '/a', path: '/x' },
    { op: 'copy', from: '/n', path: `/${'x'.repeat(60)}` },
    { op: 'move', from: '/n', path: `/${'x'.repeat(60)}` },
  ])('is not exceeded by %j', (operation) => {
    expect(broken({ a: 'x'.repeat(50), b: [], n: 1 }, operation, small)).toBe('too_large')
  })

  test('shrinks with what is replaced, removed and renamed', () => {
    const text = 'x'.repeat(60)
    const operations = Array.from({ length: 50 }, (_, n) => [
      { op: 'add', path: '/a', value: `${text}${n}` },
      { op: 'replace', path: '/a', value: `${text}${n}!` },
      { op: 'move', from: '/a', path: `/${'y'.repeat(20)}${n}` },
      { op: 'remove', path: `/${'y'.repeat(20)}${n}` },
    ]).flat()
    expect(patched({ a: text, b: {} }, operations, { ...small, mostBytes: 310 })).toEqual({ b: {} })
  })

  test('can shrink when it is already exceeded', () => {
    const document = { a: 'x'.repeat(500), b: 1 }
    const short = { op: 'replace', path: '/a', value: 'short' }
    expect(patched(document, [short], small)).toEqual({ a: 'short', b: 1 })
    expect(patched(document, [{ op: 'remove', path: '/a' }], small)).toEqual({ b: 1 })
    expect(broken(document, { op: 'add', path: '/c', value: 1 }, small)).toBe('too_large')
  })

  test('cannot double with every copy', () => {
    const operations = Array.from({ length: 200 }, (_, n) => ({
      op: 'copy',
      from: '/a',
      path: `/a/${n}`,
    }))
    const refusal = refusalOf(() => patched({ a: { x: 'x'.repeat(100) } }, operations))
    expect(refusal?.message).toMatch(/^operation \d /)
    expect(refusal?.rule).toBe('too_large')
  })

  test('also limits the sum of copies and of moves downwards', () => {
    const document = { a: 'x'.repeat(98), b: 1, c: {} }
    const rounds = (count: number, ...round: object[]) =>
      ruleOf(() =>
        patched(document, Array(count).fill(round).flat(), { ...RULES, mostBytes: 1000 }),
      )
    const copy = { op: 'copy', from: '/a', path: '/b' }
    const down = { op: 'move', from: '/a', path: '/c/a' }
    const up = { op: 'move', from: '/c/a', path: '/a' }
    const across = { op: 'move', from: '/a', path: '/a' }

    expect(rounds(10, copy)).toBeUndefined()
    expect(rounds(11, copy)).toBe('too_large')
    expect(rounds(10, down, up, across)).toBeUndefined()
    expect(rounds(11, down, up, across)).toBe('too_large')
  })

  test.each<[object, string | undefined]>([
    [{ op: 'add', path: '/a/b/c/x', value: [] }, undefined],
    [{ op: 'add', path: '/a/b/c/x', value: [[]] }, 'too_deep'],
    [{ op: 'replace', path: '/a/b', value: [[]] }, undefined],
    [{ op: 'replace', path: '/a/b', value: [[[[]]]] }, 'too_deep'],
    [{ op: 'copy', from: '/d', path: '/a/b/x' }, undefined],
    [{ op: 'copy', from: '/d', path: '/a/b/c/x' }, 'too_deep'],
    [{ op: 'move', from: '/d', path: '/a/b/x' }, undefined],
    [{ op: 'move', from: '/d', path: '/a/b/c/x' }, 'too_deep'],
  ])('is limited to 5 levels: %j %s', (operation, rule) => {
    expect(broken({ a: { b: { c: {} } }, d: [[]], e: 1 }, operation, small)).toBe(rule)
  })

  test('is limited to 64 levels by default', () => {
    const broke = (op: string, levels: number) =>
      broken({}, { op, path: '/a', value: JSON.parse(nested(levels)) as Json })
    expect(broke('add', 63)).toBeUndefined()
    expect(broke('add', 64)).toBe('too_deep')
    expect(broke('test', 65)).toMatch(/^value.* too_deep$/)
  })
})

describe('An identity', () => {
  const IDENTITY: Projection = frozen({
    traits: { email: 'ann@acme.example', tenant_id: 'tnt_1', custom_data: { plan: 'pro' } },
    metadata_public: { roles: ['admin'] },
    state: 'active',
  })

  test('can be patched in its traits, metadata and state, and between them', () => {
    const operations = [
      { op: 'test', path: '/state', value: 'active' },
      { op: 'replace', path: '/traits/email', value: 'ann@new.example' },
      { op: 'move', from: '/traits/custom_data/plan', path: '/metadata_public/plan' },
      { op: 'copy', from: '/metadata_public/roles/0', path: '/traits/custom_data/role' },
      { op: 'remove', path: '/metadata_public/roles' },
      { op: 'add', path: '/metadata_public/tenant_id', value: 'theirs' },
      { op: 'replace', path: '/state', value: 'inactive' },
    ]
    expect(patchIdentity(IDENTITY, operations)).toEqual({
      traits: { email: 'ann@new.example', tenant_id: 'tnt_1', custom_data: { role: 'admin' } },
      metadata_public: { plan: 'pro', tenant_id: 'theirs' },
      state: 'inactive',
    })
  })

  test.each([
    ...[
      '',
      '/',
      '/id',
      '/schema_id',
      '/schema_url',
      '/state_changed_at',
      '/created_at',
      '/0',
      '/-',
    ],
    ...['/updated_at', '/metadata_admin', '/session_generation', '/tenant_id', '/toString'],
    ...['/traits/tenant_id', '/traits/tenant_id/', '/TRAITS/tenant_id', '/traits ', '/trait'],
    ...['/traits~1tenant_id', '//traits/email', '/State', '/stateful', '/metadata_public~0'],
    ...['/constructor/traits/tenant_id', '/verifiable_addresses/0/verified'],
    ...['/recovery_addresses/-', '/credentials/password/config/hashed_password'],
  ])('can be neither changed nor read at %p', (pointer) => {
    for (const operation of everywhere(pointer, '/metadata_public/roles'))
      expect(ruleOf(() => patchIdentity(IDENTITY, [operation]))).toBe('not_allowed')
  })

  test('keeps its tenant, also from paths that lead through other names', () => {
    for (const name of ['constructor', 'prototype', '', '.', '..', 'traits', '-', '0'])
      for (const operation of everywhere(`/traits/${name}/tenant_id`))
        expect(ruleOf(() => patchIdentity(IDENTITY, [operation]))).toBeString()
  })

  test('can be edited when both documents are full, and made no larger than that', () => {
    const data = 'x'.repeat(65_536 - 8)
    const full = { ...IDENTITY, metadata_public: { a: data }, traits: { custom_data: { a: data } } }
    const email = `${'a'.repeat(64)}@${'b'.repeat(180)}.example`
    patchIdentity(full, [
      { op: 'replace', path: '/metadata_public/a', value: `${data.slice(1)}y` },
      { op: 'add', path: '/traits/email', value: email },
    ])
    const add = (_: unknown, n: number) => ({
      op: 'add',
      path: `/metadata_public/${n}`,
      value: 'x'.repeat(1000),
    })
    const refusal = refusalOf(() => patchIdentity(IDENTITY, Array.from({ length: 200 }, add)))
    expect(refusal?.message).toMatch(/^operation 1[23]\d /)
    expect(refusal?.rule).toBe('too_large')
  })

  test.each([
    [[{ op: 'replace', path: '/state', value: 'active' }], true],
    [[{ op: 'test', path: '/state', value: 'active' }], false],
    [[{ op: 'add', path: '/metadata_public/state', value: 1 }], false],
  ])('has its state set by %j: %p', (operations, isSet) => {
    expect(setsState(operations)).toBe(isSet)
  })
})
