import { describe, expect, test } from 'bun:test'
import SPECIFIED from 'json-patch-test-suite/spec_tests.json'
import GENERAL from 'json-patch-test-suite/tests.json'
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
  ...{ mostOperations: 200, mostBytes: 65_536, mostLevels: 64 },
}

const add = (path: unknown, value: unknown) => ({ op: 'add', path, value })
const replace = (path: unknown, value: unknown) => ({ op: 'replace', path, value })
const remove = (path: unknown) => ({ op: 'remove', path })
const check = (path: unknown, value: unknown) => ({ op: 'test', path, value })
const move = (from: unknown, path: unknown) => ({ op: 'move', from, path })
const copy = (from: unknown, path: unknown) => ({ op: 'copy', from, path })

/** Every operation with the pointer in every position. */
const everywhere = (pointer: string, other = '/a') => [
  ...[add(pointer, 1), remove(pointer), replace(pointer, 1), check(pointer, 1)],
  ...[move(other, pointer), copy(other, pointer), move(pointer, '/x'), copy(pointer, '/x')],
]

const patched = (document: JsonObject, operations: unknown[], rules = RULES) =>
  applyJsonPatch(frozen(document), frozen(operations), rules)
const broken = (document: JsonObject, operation: unknown, rules = RULES) =>
  ruleOf(() => patched(document, [operation], rules))

interface Step {
  path?: string
  from?: string
}

/** Without `expected` and `error`, the document stays as it is. */
interface Example {
  comment?: string
  doc: Json
  patch: Step[]
  expected?: Json
  error?: string
}

// Of two members of the same name, the JSON parser keeps the last one, which is valid.
const examples = ([...GENERAL, ...SPECIFIED] as unknown as Example[]).filter(
  ({ error = '' }) => !error.includes("two 'op' members"),
)

test.each(['/metadata_public/d', '/traits/custom_data/d'])(
  'The examples of json-patch-tests hold at %s',
  (at) => {
    const embed = (d: Json): Projection => {
      const traits = { email: 'a@b.example', tenant_id: 't' }
      return at.startsWith('/traits')
        ? { traits: { ...traits, custom_data: { d } }, metadata_public: {}, state: 'active' }
        : { traits, metadata_public: { d }, state: 'active' }
    }
    const below = ({ path, from, ...rest }: Step): Step => ({
      ...rest,
      ...(path !== undefined && { path: at + path }),
      ...(from !== undefined && { from: at + from }),
    })
    expect(examples.length).toBeGreaterThan(85)
    for (const { comment, doc, patch, expected = doc, error } of examples) {
      const title = `${comment} ${JSON.stringify(patch)}`
      const outcome = () => patchIdentity(frozen(embed(doc)), frozen(patch.map(below)))
      if (error === undefined) expect(outcome(), title).toEqual(embed(expected))
      else expect(ruleOf(outcome), title).toBeString()
    }
  },
)

test.each<[JsonObject, object, JsonObject]>([
  [{ a: 1 }, { ...remove('/a'), value: { b: Number.POSITIVE_INFINITY } }, {}],
  [{}, { ...add('/b', 1), from: 7, xyz: 2 }, { b: 1 }],
  [{ a: { x: 1 } }, move('/a/x', '/a'), { a: 1 }],
  [{ a: 1 }, move('/a', '/a'), { a: 1 }],
  [{ a: {}, ab: {} }, move('/a', '/ab/a'), { ab: { a: {} } }],
  [{ a: [0, { b: 1 }, {}] }, move('/a/0', '/a/1/x'), { a: [{ b: 1 }, { x: 0 }] }],
  [{ a: { b: 1 } }, copy('/a', '/a/c'), { a: { b: 1, c: { b: 1 } } }],
  [{ a: { '01': 1 } }, move('/a/01', '/a/1e0'), { a: { '1e0': 1 } }],
  [{ a: { '-': 2 } }, remove('/a/-'), { a: {} }],
])('%j after %j', (before, operation, after) => {
  expect(patched(before, [operation])).toEqual(after)
})

test('A replaced member keeps its position, and a copy is independent of its source', () => {
  const replaced = patched({ a: 1, b: 2 }, [replace('/a', 3)])
  expect(JSON.stringify(replaced)).toBe('{"a":3,"b":2}')
  const copied = patched({ a: [1] }, [copy('/a', '/c'), add('/c/-', 2), add('/a/-', 3)])
  expect(copied).toEqual({ a: [1, 3], c: [1, 2] })
})

const PROTO = JSON.parse('{"__proto__":1}')
const LARGE_INDEX = `/a/${'9'.repeat(400)}`

test.each<[string, ...unknown[]]>([
  ['type', null, [], 'remove', add('/a/0/x', 1), add('/t/x', 1)],
  ['op choice', {}, { ...add('/a', 1), op: 'Add' }, { op: 'toString', path: '/a' }],
  ['op choice', { ...add('/a', 1), op: ['add'] }],
  ['path required', { op: 'remove' }, remove(['a'])],
  ['path format', remove('a'), remove('#/a'), remove('/a~2')],
  ['from required', { op: 'copy', path: '/a' }, move(1, '/a')],
  ['from format', copy('b', '/a')],
  ['value required', ...['add', 'replace', 'test'].map((op) => ({ op, path: '/n' }))],
  ['value range', add('/a', 1e300)],
  ['value.0.__proto__ reserved', add('/x', [PROTO])],
  ['value.__proto__ reserved', check('/x', PROTO)],
  ['unknown', add('/x/y/z', 1), move('/x', '/x'), check('/x', null), remove(LARGE_INDEX)],
  ['range', add('/a/-/x', 1), move('/a/0', '/a/2'), copy('/b', '/a/3'), add(LARGE_INDEX, 0)],
  ['not_allowed', move('/b', '/b/c/x'), move('/b', '/b/x')],
  ['mismatch', check('/b', { c: '1' }), check('/n', {})],
])('The rule "%s" refuses %j', (rule, ...operations) => {
  const document = { a: [1, 2], b: { c: 1 }, t: 'text', n: null }
  for (const operation of operations)
    expect([operation, broken(document, operation)]).toEqual([operation, rule])
})

test('A place that does not exist is refused, and a bad array index', () => {
  const document = { a: [1, 2], b: { c: 1 }, t: 'text', n: null }
  for (const path of ['/x', '/a/2', '/a/-', '/a/0/x', '/t/0', '/n/x'])
    for (const one of [remove(path), replace(path, 1), check(path, 1), copy(path, '/y')])
      expect(broken(document, one)).toBeString()
  for (const token of ['00', '01', '+1', '-1', '1.0', '1e0', ' 1', '', 'x', '0x1', '١', 'length'])
    for (const operation of everywhere(`/a/${token}`, '/b'))
      expect(broken(document, operation)).toBe('range')
})

test('A path or source that the rules exclude is refused', () => {
  for (const path of ['/secret', '/secret/a'])
    for (const operation of everywhere(path))
      expect(broken({ a: 1, secret: { a: 1 } }, operation)).toBe('not_allowed')
  const seen: string[][] = []
  const refusal: PatchRules['refusal'] = (tokens) => void seen.push([...tokens])
  broken({}, copy('/a~1b/~01', '/c~0d/'), { ...RULES, refusal })
  expect(seen).toEqual([
    ['c~d', ''],
    ['a/b', '~1'],
  ])
})

test('The error names the first failed operation by its index, at limited length', () => {
  const operations = [add('/b', 1), move('/b', '/c'), remove('/b'), { op: 'spam' }]
  expect(refusalOf(() => patched({}, operations))?.message).toStartWith('operation 2 (remove /b): ')
  const unknown = refusalOf(() => patched({}, [copy('/a', '/b')]))?.message
  expect(unknown).toStartWith('operation 0 (copy /b from /a): ')
  const path = `/${'a'.repeat(100_000)}`
  expect(refusalOf(() => patched({}, [move(path, path)]))?.message.length).toBeLessThan(700)
})

test('A patch is a list of up to 200 operations, and changes nothing of its input', () => {
  const tests = (count: number) => Array(count).fill(check('/a', 1))
  for (const count of [0, 200]) expect(patched({ a: 1 }, tests(count))).toEqual({ a: 1 })
  for (const body of [tests(201), null, {}, 'x', { length: 1, 0: {} }])
    expect(ruleOf(() => applyJsonPatch({ a: 1 }, body, RULES))).toBe('body type')
  const source = { a: { b: [1] } }
  const value = { d: [2] }
  // biome-ignore lint/suspicious/noExplicitAny: the result has the members added above
  const result = applyJsonPatch(source, [add('/c', value)], RULES) as any
  result.a.b.push(9)
  result.c.d.push(9)
  expect([source, value]).toEqual([{ a: { b: [1] } }, { d: [2] }])
})

test('Prototypes and inherited members can be neither read nor changed', () => {
  for (const pointer of ['/__proto__', '/a/__proto__', '/a/__proto__/x', '/__proto__/toString'])
    for (const operation of everywhere(pointer))
      expect(broken({ a: {} }, operation)).toBe('not_allowed')
  for (const name of ['constructor', 'toString', '__defineGetter__', 'at'])
    for (const outer of ['', '/a', '/b', '/c']) {
      const path = `${outer}/${name}`
      for (const operation of [
        ...[remove(path), replace(path, 1), check(path, 1), move(path, '/x'), copy(path, '/x')],
        add(`${path}/prototype`, 1),
      ])
        expect(broken({ a: {}, b: [], c: 'text' }, operation)).toBeString()
    }
  const own = patched({ a: { constructor: 1 }, toString: 2 } as unknown as JsonObject, [
    copy('/a/constructor', '/prototype'),
    add('/a/constructor', { prototype: {} }),
    add('/a/constructor/prototype/x', 3),
    move('/toString', '/hasOwnProperty'),
  ])
  const text = '{"a":{"constructor":{"prototype":{"x":3}}},"prototype":1,"hasOwnProperty":2}'
  expect(JSON.stringify(own)).toBe(text)
  expect(({} as Record<string, unknown>).x).toBeUndefined()
})

describe('The size of the document', () => {
  const small: PatchRules = { ...RULES, mostBytes: 100, mostLevels: 5 }

  test('is counted in bytes of JSON, and not exceeded by any operation', () => {
    // {"a":1,"b":"…"} takes 14 bytes without the text.
    const grown = (length: number) => broken({ a: 1 }, add('/b', 'é'.repeat(length)), small)
    expect([grown(43), grown(44)]).toEqual([undefined, 'too_large'])
    const name = `/${'x'.repeat(60)}`
    for (const operation of [
      ...[add('/b/-', 'x'.repeat(60)), add(name, 1), replace('/n', 'x'.repeat(60))],
      ...[copy('/a', '/x'), copy('/n', name), move('/n', name)],
    ])
      expect(broken({ a: 'x'.repeat(50), b: [], n: 1 }, operation, small)).toBe('too_large')
  })

  test('shrinks with what is replaced, removed and renamed, also when it was exceeded', () => {
    const text = 'x'.repeat(60)
    const operations = Array.from({ length: 50 }, (_, n) => {
      const name = `/${'y'.repeat(20)}${n}`
      return [add('/a', text + n), replace('/a', `${text}${n}!`), move('/a', name), remove(name)]
    }).flat()
    expect(patched({ a: text, b: {} }, operations, { ...small, mostBytes: 310 })).toEqual({ b: {} })
    const document = { a: 'x'.repeat(500), b: 1 }
    expect(patched(document, [replace('/a', 'short')], small)).toEqual({ a: 'short', b: 1 })
    expect(patched(document, [remove('/a')], small)).toEqual({ b: 1 })
    expect(patched(document, [replace('/b', 2)], small)).toEqual({ ...document, b: 2 })
    expect(broken(document, add('/c', 1), small)).toBe('too_large')
  })

  test('cannot double with every copy, and limits the sum of copies and moves downwards', () => {
    const doubling = Array.from({ length: 200 }, (_, n) => copy('/a', `/a/${n}`))
    const refusal = refusalOf(() => patched({ a: { x: 'x'.repeat(100) } }, doubling))
    expect(refusal?.message).toMatch(/^operation \d /)
    expect(refusal?.rule).toBe('too_large')
    const document = { a: 'x'.repeat(98), b: 1, c: {} }
    const rules = { ...RULES, mostBytes: 1000 }
    const rounds = (count: number, ...round: object[]) =>
      ruleOf(() => patched(document, Array(count).fill(round).flat(), rules))
    for (const round of [
      [copy('/a', '/b')],
      [move('/a', '/c/a'), move('/c/a', '/a'), move('/a', '/a')],
    ])
      expect([rounds(10, ...round), rounds(11, ...round)]).toEqual([undefined, 'too_large'])
  })

  test('is limited in levels', () => {
    const document = { a: { b: { c: {} } }, d: [[]], e: 1 }
    for (const [fine, deep] of [
      [add('/a/b/c/x', []), add('/a/b/c/x', [[]])],
      [replace('/a/b', [[]]), replace('/a/b', [[[[]]]])],
      [copy('/d', '/a/b/x'), copy('/d', '/a/b/c/x')],
      [move('/d', '/a/b/x'), move('/d', '/a/b/c/x')],
    ])
      expect([broken(document, fine, small), broken(document, deep, small)]).toEqual([
        ...[undefined, 'too_deep'],
      ])
    const levels = (count: number) => JSON.parse(nested(count)) as Json
    expect(broken({}, add('/a', levels(63)))).toBeUndefined()
    expect(broken({}, add('/a', levels(64)))).toBe('too_deep')
    expect(broken({}, check('/a', levels(65)))).toMatch(/^value.* too_deep$/)
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
      check('/state', 'active'),
      replace('/traits/email', 'ann@new.example'),
      move('/traits/custom_data/plan', '/metadata_public/plan'),
      copy('/metadata_public/roles/0', '/traits/custom_data/role'),
      remove('/metadata_public/roles'),
      add('/metadata_public/tenant_id', 'theirs'),
      replace('/state', 'inactive'),
    ]
    expect(patchIdentity(IDENTITY, operations)).toEqual({
      traits: { email: 'ann@new.example', tenant_id: 'tnt_1', custom_data: { role: 'admin' } },
      metadata_public: { plan: 'pro', tenant_id: 'theirs' },
      state: 'inactive',
    })
    expect(setsState(operations)).toBe(true)
    expect(setsState([...operations.slice(0, 6), add('/metadata_public/state', 1)])).toBe(false)
  })

  test.each([
    ...['', '/', '/id', '/schema_id', '/schema_url', '/state_changed_at', '/updated_at', '/0'],
    ...['/metadata_admin', '/session_generation', '/tenant_id', '/toString', '/-', '/traits '],
    ...['/traits/tenant_id', '/traits/tenant_id/', '/TRAITS/tenant_id', '/trait', '//traits/email'],
    ...['/traits~1tenant_id', '/State', '/stateful', '/metadata_public~0', '/recovery_addresses/-'],
    ...['/constructor/traits/tenant_id', '/verifiable_addresses/0/verified'],
    '/credentials/password/config/hashed_password',
  ])('can be neither changed nor read at %p', (pointer) => {
    for (const operation of everywhere(pointer, '/metadata_public/roles'))
      expect(ruleOf(() => patchIdentity(IDENTITY, [operation]))).toBe('not_allowed')
  })

  test('keeps its tenant, also from paths through other names', () => {
    for (const name of ['constructor', 'prototype', '', '.', '..', 'traits', '-', '0'])
      for (const operation of everywhere(`/traits/${name}/tenant_id`))
        expect(ruleOf(() => patchIdentity(IDENTITY, [operation]))).toBeString()
  })

  test('can be edited when both documents are full, and made no larger than that', () => {
    const data = 'x'.repeat(65_536 - 8)
    const full = { ...IDENTITY, metadata_public: { a: data }, traits: { custom_data: { a: data } } }
    const email = `${'a'.repeat(64)}@${'b'.repeat(180)}.example`
    const edits = [replace('/metadata_public/a', `${data.slice(1)}y`), add('/traits/email', email)]
    expect(patchIdentity(full, edits).traits).toHaveProperty('email', email)
    const kilobyte = 'x'.repeat(1000)
    const fill = Array.from({ length: 200 }, (_, n) => add(`/metadata_public/${n}`, kilobyte))
    const refusal = refusalOf(() => patchIdentity(IDENTITY, fill))
    expect(refusal?.message).toMatch(/^operation 1[23]\d /)
    expect(refusal?.rule).toBe('too_large')
  })
})
