import { describe, expect, test } from 'bun:test'
import type { Json, JsonObject } from '../../../../../src/engines/gate/identities/documents/json.ts'
import {
  applyJsonPatch,
  type PatchRules,
} from '../../../../../src/engines/gate/identities/documents/json-patch.ts'
import { frozen, nested, refusalOf } from './support.ts'

const RULES: PatchRules = {
  refusal: ([first]) => (first === 'secret' ? 'secrets stay' : undefined),
  mostOperations: 200,
  mostBytes: 65_536,
  mostLevels: 64,
}

/** From JSON, as a body is: an object literal cannot have a member named `__proto__`. */
const parse = (json: string | object) => (typeof json === 'string' ? JSON.parse(json) : json)

const patched = (document: string | object, operations: string | unknown[], rules = RULES) =>
  applyJsonPatch(frozen(parse(document)), frozen(parse(operations)), rules)

const refused = (document: string | object, operation: unknown, rules = RULES) =>
  refusalOf(() => patched(document, [operation], rules))

describe('add', () => {
  test('makes a member, or replaces it', () => {
    expect(patched({ a: 1 }, [{ op: 'add', path: '/b', value: null }])).toEqual({ a: 1, b: null })
    expect(patched({ a: 1 }, [{ op: 'add', path: '/a', value: [2] }])).toEqual({ a: [2] })
  })

  test.each<[path: string, Json[]]>([
    ['/a/0', ['new', 1, 2]],
    ['/a/1', [1, 'new', 2]],
    ['/a/2', [1, 2, 'new']],
    ['/a/-', [1, 2, 'new']],
  ])('inserts into an array at %s', (path, a) => {
    expect(patched({ a: [1, 2] }, [{ op: 'add', path, value: 'new' }])).toEqual({ a })
  })

  test('makes no objects or arrays on the way', () => {
    const at = (path: string) => refused({ a: {}, b: [] }, { op: 'add', path, value: 1 })

    expect(at('/a/b/c')).toBe('operation 0 (add /a/b/c): /a/b does not exist')
    expect(at('/x/-')).toBe('operation 0 (add /x/-): /x does not exist')
    expect(at('/b/0/x')).toBe('operation 0 (add /b/0/x): /b/0 does not exist')
    expect(at('/b/-/x')).toContain('- does not exist')
  })
})

describe('remove', () => {
  test('takes out a member or an item', () => {
    expect(patched({ a: null, b: 2 }, [{ op: 'remove', path: '/a' }])).toEqual({ b: 2 })
    expect(patched({ a: [1, 2, 3] }, [{ op: 'remove', path: '/a/1' }])).toEqual({ a: [1, 3] })
  })

  test('ignores a value', () => {
    const operation = '[{"op":"remove","path":"/a","value":{"__proto__":1e400}}]'
    expect(patched({ a: 1 }, operation)).toEqual({})
  })

  test.each(['/b', '/a/2', '/a/-', '/a/0/x', '/a/length'])('%s is not there', (path) => {
    expect(refused({ a: [1, 2] }, { op: 'remove', path })).toStartWith(
      `operation 0 (remove ${path}): `,
    )
  })
})

describe('replace', () => {
  test('puts a value in the place of another and keeps the order of members', () => {
    const document = patched({ a: 1, b: 2 }, [{ op: 'replace', path: '/a', value: { c: 3 } }])

    expect(JSON.stringify(document)).toBe('{"a":{"c":3},"b":2}')
    expect(patched({ a: [1, 2] }, [{ op: 'replace', path: '/a/1', value: null }])).toEqual({
      a: [1, null],
    })
  })

  test.each(['/b', '/a/2', '/a/-', '/a/0/x', '/a/length'])('%s is not there', (path) => {
    expect(refused({ a: [1, 2] }, { op: 'replace', path, value: 0 })).toStartWith(
      `operation 0 (replace ${path}): `,
    )
  })
})

describe('move', () => {
  test.each<[from: string, path: string, JsonObject]>([
    ['/a', '/c', { b: [1, 2, 3], c: { x: 1 } }],
    ['/a', '/b', { b: { x: 1 } }],
    ['/a', '/a', { a: { x: 1 }, b: [1, 2, 3] }],
    ['/a/x', '/b/-', { a: {}, b: [1, 2, 3, 1] }],
    ['/a/x', '/b/0', { a: {}, b: [1, 1, 2, 3] }],
    ['/b/0', '/b/2', { a: { x: 1 }, b: [2, 3, 1] }],
    ['/b/2', '/b/0', { a: { x: 1 }, b: [3, 1, 2] }],
    ['/b/1', '/b/1', { a: { x: 1 }, b: [1, 2, 3] }],
    ['/b/0', '/b/-', { a: { x: 1 }, b: [2, 3, 1] }],
    ['/b/0', '/a', { a: 1, b: [2, 3] }],
    ['/a/x', '/a', { a: 1, b: [1, 2, 3] }],
    ['/b', '/a/b', { a: { x: 1, b: [1, 2, 3] } }],
  ])('%s to %s', (from, path, document) => {
    expect(patched({ a: { x: 1 }, b: [1, 2, 3] }, [{ op: 'move', from, path }])).toEqual(document)
  })

  test('looks for its target when the value is gone', () => {
    const operations = [{ op: 'move', from: '/a/0', path: '/a/1/x' }]

    expect(patched({ a: [0, { b: 1 }, { c: 2 }] }, operations)).toEqual({
      a: [{ b: 1 }, { c: 2, x: 0 }],
    })
    expect(refused({ a: [0, 1] }, { op: 'move', from: '/a/0', path: '/a/2' })).toBe(
      'operation 0 (move /a/2 from /a/0): index 2 is beyond the end of an array of 1',
    )
  })

  test('into itself is refused, and a name that only begins alike is another place', () => {
    const document = { a: { b: { c: 1 } }, ab: {} }

    for (const path of ['/a/x', '/a/b/x', '/a/b'])
      expect(refused(document, { op: 'move', from: '/a', path })).toBe(
        `operation 0 (move ${path} from /a): a value cannot be moved into itself`,
      )
    expect(patched(document, [{ op: 'move', from: '/a', path: '/ab/a' }])).toEqual({
      ab: { a: { b: { c: 1 } } },
    })
  })

  test('of nothing is refused, even to where it is not', () => {
    for (const path of ['/y', '/x'])
      expect(refused({ a: 1 }, { op: 'move', from: '/x', path })).toContain('/x does not exist')
  })
})

describe('copy', () => {
  test('makes another value, which then goes its own way', () => {
    const document = patched({ a: { b: [1] } }, [
      { op: 'copy', from: '/a', path: '/c' },
      { op: 'add', path: '/c/b/-', value: 2 },
      { op: 'add', path: '/a/d', value: 3 },
    ])

    expect(document).toEqual({ a: { b: [1], d: 3 }, c: { b: [1, 2] } })
  })

  test('may go into itself', () => {
    expect(patched({ a: { b: 1 } }, [{ op: 'copy', from: '/a', path: '/a/c' }])).toEqual({
      a: { b: 1, c: { b: 1 } },
    })
  })

  test('inserts into arrays and replaces members', () => {
    const document = { a: [1, 2], b: 3 }

    expect(patched(document, [{ op: 'copy', from: '/b', path: '/a/0' }])).toEqual({
      a: [3, 1, 2],
      b: 3,
    })
    expect(patched(document, [{ op: 'copy', from: '/a/1', path: '/b' }])).toEqual({
      a: [1, 2],
      b: 2,
    })
    expect(refused(document, { op: 'copy', from: '/b', path: '/a/3' })).toContain('beyond the end')
    expect(refused(document, { op: 'copy', from: '/a/-', path: '/b' })).toContain(
      '- does not exist',
    )
  })
})

describe('test', () => {
  const document = '{"a":{"b":[1,"x",null],"c":true},"n":null}'

  test('lets the others be carried out if the value is the same', () => {
    const operations = [
      { op: 'test', path: '/a', value: { c: true, b: [1, 'x', null] } },
      { op: 'test', path: '/n', value: null },
      { op: 'remove', path: '/a' },
    ]
    expect(patched(document, operations)).toEqual({ n: null })
  })

  test.each<[path: string, Json]>([
    ['/a', {}],
    ['/a/b/0', '1'],
    ['/a/b', [1, 'x']],
    ['/a/b/2', false],
    ['/a/c', 1],
    ['/n', {}],
  ])('%s has another value than %p', (path, value) => {
    expect(refused(document, { op: 'test', path, value })).toBe(
      `operation 0 (test ${path}): the value is different`,
    )
  })

  test('nothing is not null', () => {
    expect(refused(document, { op: 'test', path: '/x', value: null })).toBe(
      'operation 0 (test /x): /x does not exist',
    )
  })

  test('a long array is compared with another in one pass', () => {
    const zeros = Array<number>(20_000).fill(0)
    const ones = Array<number>(20_000).fill(1)

    expect(refused({ a: zeros }, { op: 'test', path: '/a', value: ones })).toBe(
      'operation 0 (test /a): the value is different',
    )
    expect(patched({ a: zeros }, [{ op: 'test', path: '/a', value: zeros }])).toEqual({ a: zeros })
  })
})

describe('an index of an array is digits alone', () => {
  const TOKENS = ['00', '01', '+1', '-1', '1.0', '1e0', ' 1', '1 ', '', 'x', '0x1', '١', 'length']
  const OPERATIONS: ((path: string) => { op: string })[] = [
    (path) => ({ op: 'add', path, value: 0 }),
    (path) => ({ op: 'replace', path, value: 0 }),
    (path) => ({ op: 'test', path, value: 2 }),
    (path) => ({ op: 'remove', path }),
    (path) => ({ op: 'copy', from: '/b', path }),
    (path) => ({ op: 'move', from: '/b', path }),
    (from) => ({ op: 'copy', from, path: '/c' }),
    (from) => ({ op: 'move', from, path: '/c' }),
  ]

  test.each(TOKENS)('not "%s"', (token) => {
    for (const make of OPERATIONS)
      expect(refused({ a: [1, 2, 3], b: 4 }, make(`/a/${token}`))).toEndWith(
        `: "${token}" is not an array index`,
      )
  })

  test('nor one with more digits than there are items', () => {
    const path = `/a/${'9'.repeat(400)}`

    expect(refused({ a: [1] }, { op: 'add', path, value: 0 })).toContain('is beyond the end')
    expect(refused({ a: [1] }, { op: 'remove', path })).toContain('does not exist')
  })

  test('in an object it is a name like any other', () => {
    const document = { a: { '01': 1, '-': 2 } }

    expect(
      patched(document, [
        { op: 'move', from: '/a/01', path: '/a/1e0' },
        { op: 'copy', from: '/a/-', path: '/a/-1' },
        { op: 'remove', path: '/a/-' },
      ]),
    ).toEqual({ a: { '1e0': 1, '-1': 2 } })
  })
})

test.each(['"text"', '1', 'true', 'null'])(
  'nothing is in %s, and nothing can be put there',
  (json) => {
    const document = `{"a":${json}}`

    for (const token of ['0', 'length', 'x', '-'])
      for (const op of ['add', 'replace', 'remove', 'test'])
        expect(refused(document, { op, path: `/a/${token}`, value: 1 })).toStartWith(
          `operation 0 (${op} /a/${token}): `,
        )
    expect(refused(document, { op: 'add', path: '/a/x', value: 1 })).toEndWith(
      ': /a is neither an object nor an array',
    )
  },
)

describe('pointers', () => {
  test('are decoded: ~1 is a slash, ~0 a tilde, ~01 is ~1', () => {
    const document = { 'a/b': 1, 'm~n': 2, '~1': 3, '': { '': 4 }, 'c%d': 5 }

    expect(
      patched(document, [
        { op: 'test', path: '/a~1b', value: 1 },
        { op: 'test', path: '/m~0n', value: 2 },
        { op: 'test', path: '/~01', value: 3 },
        { op: 'test', path: '//', value: 4 },
        { op: 'test', path: '/c%d', value: 5 },
        { op: 'add', path: '/~1', value: 6 },
      ]),
    ).toEqual({ ...document, '/': 6 })
  })

  test.each(['a', 'a/b', '#/a', '/a~', '/a~2', '/~~'])('"%s" is none', (pointer) => {
    expect(refused({ a: 1 }, { op: 'remove', path: pointer })).toBe(
      `operation 0 (remove ${pointer}): path: must be a JSON Pointer (RFC 6901)`,
    )
    expect(refused({ a: 1 }, { op: 'copy', from: pointer, path: '/b' })).toBe(
      `operation 0 (copy /b from ${pointer}): from: must be a JSON Pointer (RFC 6901)`,
    )
  })

  test('the whole document is refused as path and as from', () => {
    const value = {}

    for (const op of ['add', 'remove', 'replace', 'test'])
      expect(refused({ a: 1 }, { op, path: '', value })).toBe(
        `operation 0 (${op} ""): the whole document cannot be patched`,
      )
    for (const op of ['move', 'copy']) {
      expect(refused({ a: 1 }, { op, from: '', path: '/b' })).toContain('whole document')
      expect(refused({ a: 1 }, { op, from: '/a', path: '' })).toContain('whole document')
    }
  })
})

describe('what is no operation', () => {
  test.each<[sent: unknown, message: string]>([
    [null, 'operation 0: must be a JSON object'],
    [[], 'operation 0: must be a JSON object'],
    ['remove', 'operation 0: must be a JSON object'],
    [{}, 'operation 0: op: must be one of add, remove, replace, move, copy, test'],
    [{ op: 'spam', path: '/a' }, 'operation 0: op: must be one of add, remove,'],
    [{ op: 'Add', path: '/a', value: 1 }, 'operation 0: op: must be one of add, remove,'],
    [{ op: 'toString', path: '/a' }, 'operation 0: op: must be one of add, remove,'],
    [{ op: ['add'], path: '/a', value: 1 }, 'operation 0: op: must be one of add, remove,'],
    [{ op: 'remove' }, 'operation 0: path: is required and must be a JSON Pointer'],
    [{ op: 'remove', path: null }, 'operation 0: path: is required and must be a JSON Pointer'],
    [{ op: 'remove', path: ['a'] }, 'operation 0: path: is required and must be a JSON Pointer'],
    [
      { op: 'copy', path: '/a' },
      'operation 0 (copy /a): from: is required and must be a JSON Pointer',
    ],
    [
      { op: 'move', path: '/a', from: 1 },
      'operation 0 (move /a): from: is required and must be a JSON',
    ],
    [{ op: 'add', path: '/a' }, 'operation 0 (add /a): value: is required'],
    [{ op: 'replace', path: '/a' }, 'operation 0 (replace /a): value: is required'],
    [{ op: 'test', path: '/n' }, 'operation 0 (test /n): value: is required'],
    [{ op: 'add', path: '/a', value: 1e300 }, 'operation 0 (add /a): value: would lose digits'],
  ])('%j', (sent, message) => {
    expect(refused({ a: 1, n: null }, sent)).toStartWith(message)
  })

  test('members that RFC 6902 does not know are ignored, and so is a from where none belongs', () => {
    const operation = { op: 'add', path: '/b', value: 1, from: 'nowhere', xyz: 2 }

    expect(patched({}, [operation])).toEqual({ b: 1 })
  })

  test.each([
    '{"op":"add","path":"/a","value":{"b":[{"__proto__":{"x":1}}]}}',
    '{"op":"replace","path":"/a","value":{"b":[{"__proto__":null}]}}',
    '{"op":"test","path":"/a","value":{"b":[{"__proto__":1}]}}',
  ])('%s', (json) => {
    expect(refused({ a: 1 }, JSON.parse(json))).toEndWith(
      'value.b.0.__proto__: is a reserved member name',
    )
  })

  test('long paths are cut off in the message', () => {
    const path = `/${'a'.repeat(100_000)}`

    const message = refused({}, { op: 'move', path, from: path })

    expect(message).toStartWith('operation 0 (move /aaa')
    expect(message?.length).toBeLessThan(700)
  })
})

describe('the list of operations', () => {
  const tests = (count: number) => Array(count).fill({ op: 'test', path: '/a', value: 1 })

  test.each([null, {}, 'x', { op: 'remove', path: '/a' }, { length: 1, 0: {} }])(
    'is no %j',
    (body) => {
      expect(refusalOf(() => applyJsonPatch({ a: 1 }, body, RULES))).toBe(
        'body: must be an array of up to 200 operations',
      )
    },
  )

  test('has up to 200', () => {
    const count = (n: number) => refusalOf(() => patched({ a: 1 }, tests(n)))

    expect(count(0)).toBeUndefined()
    expect(count(200)).toBeUndefined()
    expect(count(201)).toBe('body: must be an array of up to 200 operations')
  })

  test('is carried out in order, and the first that fails is named by its index', () => {
    const operations = [
      { op: 'add', path: '/b', value: 1 },
      { op: 'move', from: '/b', path: '/c' },
      { op: 'remove', path: '/b' },
      { op: 'spam' },
    ]
    expect(refusalOf(() => patched({ a: 1 }, operations))).toBe(
      'operation 2 (remove /b): /b does not exist',
    )
  })
})

describe('nothing that was passed in is changed', () => {
  const document = { a: { b: [1, 2] }, c: 3 }
  const changes = [
    { op: 'add', path: '/new', value: { x: [1] } },
    { op: 'add', path: '/new/x/-', value: 2 },
    { op: 'remove', path: '/a/b/0' },
    { op: 'move', from: '/a/b', path: '/b' },
    { op: 'replace', path: '/c', value: { y: {} } },
    { op: 'add', path: '/c/y/z', value: 1 },
  ]

  test('neither by a success', () => {
    const before = JSON.stringify([document, changes])

    const after = patched(document, changes)

    expect(JSON.stringify([document, changes])).toBe(before)
    expect(after).toEqual({ new: { x: [1, 2] }, a: {}, b: [2], c: { y: { z: 1 } } })
  })

  test('nor by a failure in the middle', () => {
    const before = JSON.stringify([document, changes])

    const message = refusalOf(() => patched(document, [...changes, { op: 'remove', path: '/x' }]))

    expect(message).toStartWith('operation 6 (remove /x)')
    expect(JSON.stringify([document, changes])).toBe(before)
  })

  test('nor by whoever changes the outcome', () => {
    const source = { a: { b: [1] } }
    const operations = [{ op: 'add', path: '/c', value: { d: [2] } }]

    const outcome = applyJsonPatch(source, operations, RULES) as typeof source & {
      c: { d: number[] }
    }
    outcome.a.b.push(9)
    outcome.c.d.push(9)

    expect(source).toEqual({ a: { b: [1] } })
    expect(operations).toEqual([{ op: 'add', path: '/c', value: { d: [2] } }])
  })
})

describe('prototypes', () => {
  test('__proto__ is no name for a member, wherever it stands', () => {
    for (const pointer of ['/__proto__', '/a/__proto__', '/a/__proto__/x', '/__proto__/toString']) {
      for (const op of ['add', 'remove', 'replace', 'test'])
        expect(refused({ a: {} }, { op, path: pointer, value: 1 })).toBe(
          `operation 0 (${op} ${pointer}): __proto__ is a reserved member name`,
        )
      for (const op of ['move', 'copy']) {
        expect(refused({ a: {} }, { op, from: pointer, path: '/b' })).toEndWith(
          'reserved member name',
        )
        expect(refused({ a: {} }, { op, from: '/a', path: pointer })).toEndWith(
          'reserved member name',
        )
      }
    }
  })

  test('what objects and arrays inherit can be neither read nor changed', () => {
    const document = { a: {}, b: [], c: 'text' }
    const names = ['constructor', 'toString', 'hasOwnProperty', 'valueOf', '__defineGetter__', 'at']

    for (const name of names)
      for (const outer of ['', '/a', '/b', '/c']) {
        const pointer = `${outer}/${name}`
        for (const op of ['remove', 'replace', 'test'])
          expect(refused(document, { op, path: pointer, value: {} })).toBeString()
        for (const op of ['move', 'copy'])
          expect(refused(document, { op, from: pointer, path: '/d' })).toBeString()
        expect(refused(document, { op: 'add', path: `${pointer}/x`, value: 1 })).toBeString()
      }
  })

  test('nothing can be put on a prototype by way of a constructor', () => {
    for (const path of ['/a/constructor/prototype/polluted', '/constructor/prototype/polluted'])
      expect(refused({ a: {} }, { op: 'add', path, value: 1 })).toContain('does not exist')
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })

  test('members of ones own may have such names', () => {
    const document = patched({ a: { constructor: 1 }, toString: 2 }, [
      { op: 'copy', from: '/a/constructor', path: '/prototype' },
      { op: 'add', path: '/a/constructor', value: { prototype: {} } },
      { op: 'add', path: '/a/constructor/prototype/x', value: 3 },
      { op: 'move', from: '/toString', path: '/hasOwnProperty' },
      { op: 'test', path: '/hasOwnProperty', value: 2 },
      { op: 'add', path: '/valueOf', value: 4 },
      { op: 'remove', path: '/valueOf' },
    ])

    expect(JSON.stringify(document)).toBe(
      '{"a":{"constructor":{"prototype":{"x":3}}},"prototype":1,"hasOwnProperty":2}',
    )
    expect(({} as Record<string, unknown>).x).toBeUndefined()
  })

  test('tokens that lead nowhere are not skipped on the way to one that is refused', () => {
    for (const path of ['/constructor/secret', '/a/prototype/constructor', '/a/constructor/b'])
      expect(refused({ a: { b: 1 }, secret: 2 }, { op: 'replace', path, value: 3 })).toContain(
        'does not exist',
      )
  })
})

describe('a place that the rules refuse', () => {
  test.each<object>([
    { op: 'add', path: '/secret', value: 1 },
    { op: 'remove', path: '/secret' },
    { op: 'replace', path: '/secret/a', value: 1 },
    { op: 'test', path: '/secret/a', value: 1 },
    { op: 'move', path: '/secret/b', from: '/a' },
    { op: 'copy', path: '/secret/b', from: '/a' },
    { op: 'move', path: '/b', from: '/secret' },
    { op: 'copy', path: '/b', from: '/secret/a' },
  ])('%j', (operation) => {
    expect(refused({ a: 1, secret: { a: 1 } }, operation)).toEndWith(': secrets stay')
  })

  test('is known by its decoded tokens', () => {
    const seen: string[][] = []
    const refusal: PatchRules['refusal'] = (tokens) => {
      seen.push([...tokens])
      return undefined
    }

    refused({}, { op: 'copy', from: '/a~1b/~01', path: '/c~0d/' }, { ...RULES, refusal })

    expect(seen).toEqual([
      ['c~d', ''],
      ['a/b', '~1'],
    ])
  })
})

describe('room', () => {
  const small: PatchRules = { ...RULES, mostBytes: 100, mostLevels: 5 }
  const TOO_LARGE = 'would make the document larger than 100 bytes'

  test('is for so many bytes of JSON, to within one an operation', () => {
    const add = (length: number) =>
      refused({ a: 1 }, { op: 'add', path: '/b', value: 'é'.repeat(length) }, small)

    // {"a":1,"b":"…"} has 14 bytes beside the text.
    expect(add(43)).toBeUndefined()
    expect(add(44)).toBe(`operation 0 (add /b): ${TOO_LARGE}`)
  })

  test.each<object>([
    { op: 'add', path: '/x', value: 'x'.repeat(60) },
    { op: 'add', path: '/b/-', value: 'x'.repeat(60) },
    { op: 'add', path: `/${'x'.repeat(60)}`, value: 1 },
    { op: 'replace', path: '/n', value: 'x'.repeat(60) },
    { op: 'copy', from: '/a', path: '/x' },
    { op: 'copy', from: '/a', path: '/b/-' },
    { op: 'copy', from: '/n', path: `/${'x'.repeat(60)}` },
    { op: 'move', from: '/n', path: `/${'x'.repeat(60)}` },
  ])('is not left for %j', (operation) => {
    expect(refused({ a: 'x'.repeat(50), b: [], n: 1 }, operation, small)).toEndWith(
      `: ${TOO_LARGE}`,
    )
  })

  test('is made by what is replaced, removed and renamed', () => {
    const text = 'x'.repeat(60)
    const operations = Array.from({ length: 50 }, (_, n) => [
      { op: 'add', path: '/a', value: `${text}${n}` },
      { op: 'replace', path: '/a', value: `${text}${n}!` },
      { op: 'move', from: '/a', path: `/${'y'.repeat(20)}${n}` },
      { op: 'remove', path: `/${'y'.repeat(20)}${n}` },
    ]).flat()

    expect(patched({ a: text, b: {} }, operations, { ...small, mostBytes: 310 })).toEqual({ b: {} })
  })

  test('once exceeded, is not asked of what makes the document smaller', () => {
    const document = { a: 'x'.repeat(500), b: 1 }

    expect(patched(document, [{ op: 'replace', path: '/a', value: 'short' }], small)).toEqual({
      a: 'short',
      b: 1,
    })
    expect(patched(document, [{ op: 'remove', path: '/a' }], small)).toEqual({ b: 1 })
    expect(refused(document, { op: 'add', path: '/c', value: 1 }, small)).toEndWith(TOO_LARGE)
  })

  test('a value copied into itself time and again outgrows it soon', () => {
    const operations = Array.from({ length: 200 }, (_, n) => ({
      op: 'copy',
      from: '/a',
      path: `/a/${n}`,
    }))

    expect(refusalOf(() => patched({ a: { x: 'x'.repeat(100) } }, operations))).toMatch(
      /^operation \d \(copy \/a\/\d from \/a\): (would make the document larger|copies and)/,
    )
  })

  describe('what is carried about counts in all, though the document stays small', () => {
    const rules = { ...RULES, mostBytes: 1000 }
    const document = { a: 'x'.repeat(98), b: 1, c: {} }
    const refusal = (operations: object[]) => refusalOf(() => patched(document, operations, rules))

    test('by copies', () => {
      const copies = (count: number) => Array(count).fill({ op: 'copy', from: '/a', path: '/b' })

      expect(refusal(copies(10))).toBeUndefined()
      expect(refusal(copies(11))).toBe(
        'operation 10 (copy /b from /a): copies and moves down more than 1000 bytes in total',
      )
    })

    test('by moves to a deeper place, not by others', () => {
      const down = { op: 'move', from: '/a', path: '/c/a' }
      const up = { op: 'move', from: '/c/a', path: '/a' }
      const across = { op: 'move', from: '/a', path: '/a' }
      const rounds = (count: number) => Array(count).fill([down, up, across]).flat()

      expect(refusal(rounds(10))).toBeUndefined()
      expect(refusal(rounds(11))).toStartWith('operation 30 (move /c/a from /a): copies and moves')
    })
  })

  test('is for so many levels, whichever way they come about', () => {
    const document = { a: { b: { c: {} } }, d: [[]], e: 1 }
    const TOO_DEEP = 'would nest deeper than 5 levels'

    expect(refused(document, { op: 'add', path: '/a/b/c/x', value: [] }, small)).toBeUndefined()
    expect(refused(document, { op: 'add', path: '/a/b/c/x', value: [[]] }, small)).toEndWith(
      TOO_DEEP,
    )
    expect(refused(document, { op: 'replace', path: '/a/b', value: [[]] }, small)).toBeUndefined()
    expect(refused(document, { op: 'replace', path: '/a/b', value: [[[[]]]] }, small)).toEndWith(
      TOO_DEEP,
    )
    expect(refused(document, { op: 'copy', from: '/d', path: '/a/b/x' }, small)).toBeUndefined()
    expect(refused(document, { op: 'copy', from: '/d', path: '/a/b/c/x' }, small)).toEndWith(
      TOO_DEEP,
    )
    expect(refused(document, { op: 'move', from: '/d', path: '/a/b/x' }, small)).toBeUndefined()
    expect(refused(document, { op: 'move', from: '/d', path: '/a/b/c/x' }, small)).toEndWith(
      TOO_DEEP,
    )
    expect(refused(document, { op: 'add', path: '/a/b/c/x', value: 1 }, small)).toBeUndefined()
  })

  test('64 levels of one value are refused below the document', () => {
    expect(refused({}, { op: 'add', path: '/a', value: JSON.parse(nested(63)) })).toBeUndefined()
    expect(refused({}, { op: 'add', path: '/a', value: JSON.parse(nested(64)) })).toEndWith(
      'would nest deeper than 64 levels',
    )
    expect(refused({}, { op: 'test', path: '/a', value: JSON.parse(nested(65)) })).toEndWith(
      'must not be nested deeper than 64 levels',
    )
  })
})
