import { describe, expect, test } from 'bun:test'
import {
  checkChannel,
  checkEventType,
  checkTypePattern,
  compileFilter,
  matchOf,
} from '../../src/delivery/matching.ts'

const hears = (eventTypes: string[] | null, type: string) =>
  matchOf({ eventTypes, channels: [] }, { type, channels: [] }) === 'matches'

describe('types', () => {
  test.each(['user', 'user.created', 'order.paid.late'])('null and * hear %s', (type) => {
    expect(hears(null, type)).toBe(true)
    expect(hears(['*'], type)).toBe(true)
    expect(hears(['other', '*'], type)).toBe(true)
  })

  test('an empty list hears nothing', () => expect(hears([], 'user')).toBe(false))

  test('a type is heard exactly as it is spelled', () => {
    expect(hears(['order.paid', 'user.created'], 'user.created')).toBe(true)
    for (const other of ['user', 'user.created.late', 'user.create', 'User.created', 'created']) {
      expect(hears(['order.paid', 'user.created'], other)).toBe(false)
    }
  })

  test('user.* hears everything below user, however deep, but neither user nor users', () => {
    expect(hears(['user.*'], 'user.created')).toBe(true)
    expect(hears(['user.*'], 'user.profile.changed')).toBe(true)
    for (const other of ['user', 'users.created', 'User.created', 'admin.user.created']) {
      expect(hears(['user.*'], other)).toBe(false)
    }
  })

  test('a deeper pattern hears what lies below it alone', () => {
    expect(hears(['user.profile.*'], 'user.profile.changed')).toBe(true)
    expect(hears(['user.profile.*'], 'user.created')).toBe(false)
  })

  test('one of several is enough, types and patterns mixed', () => {
    const list = ['invoice', 'user.*', 'order.*', 'order']
    const heard = ['invoice', 'invoice.paid', 'user', 'user.a', 'order', 'order.a.b']
    expect(heard.filter((type) => hears(list, type))).toEqual([
      'invoice',
      'user.a',
      'order',
      'order.a.b',
    ])
  })
})

describe('channels', () => {
  const verdict = (heard: string[], named: string[]) =>
    matchOf({ eventTypes: null, channels: heard }, { type: 'user.created', channels: named })

  test('a filter without channels hears every message', () => {
    expect(verdict([], [])).toBe('matches')
    expect(verdict([], ['eu'])).toBe('matches')
  })

  test('a filter with channels hears messages that name one of them', () => {
    expect(verdict(['eu', 'us'], ['us'])).toBe('matches')
    expect(verdict(['eu', 'us'], ['jp', 'eu'])).toBe('matches')
    expect(verdict(['eu', 'us'], ['jp'])).toBe('channels')
    expect(verdict(['eu'], ['EU'])).toBe('channels')
  })

  test('a filter with channels hears messages without any', () => {
    expect(verdict(['eu'], [])).toBe('matches')
  })
})

test('type and channels both have to fit, and the type is what is named first', () => {
  const filter = { eventTypes: ['user.*'], channels: ['eu'] }
  expect(matchOf(filter, { type: 'user.a', channels: ['eu'] })).toBe('matches')
  expect(matchOf(filter, { type: 'user.a', channels: ['us'] })).toBe('channels')
  expect(matchOf(filter, { type: 'order', channels: ['eu'] })).toBe('event_type')
  expect(matchOf(filter, { type: 'order', channels: [] })).toBe('event_type')
})

test('a compiled filter says the same as the rule told in full, and is not changed later', () => {
  const types = ['a', 'b', 'a.b', 'a.c', 'a.b.c', 'ab.c']
  const patterns = ['*', 'a', 'a.*', 'a.b', 'a.b.*', 'ab.*', 'b.*']
  const channelSets = [[], ['x'], ['y'], ['x', 'y']]
  for (const eventTypes of [null, ...pairs(patterns)]) {
    for (const heard of channelSets) {
      const compiled = compileFilter({ eventTypes, channels: heard })
      for (const type of types) {
        for (const named of channelSets) {
          expect(compiled(type, named)).toBe(toldInFull(eventTypes, heard, type, named))
        }
      }
    }
  }

  const list = ['a']
  const compiled = compileFilter({ eventTypes: list, channels: [] })
  list.push('b')
  expect(compiled('b', [])).toBe('event_type')
})

const pairs = (all: string[]) => all.flatMap((a) => all.map((b) => [a, b]))

function toldInFull(patterns: string[] | null, heard: string[], type: string, named: string[]) {
  const expressions = (patterns ?? ['*']).map((pattern) =>
    pattern === '*' ? /./ : new RegExp(`^${pattern.replaceAll('.', '\\.').replace('*', '.+')}$`),
  )
  if (!expressions.some((expression) => expression.test(type))) return 'event_type'
  const isRestricted = heard.length > 0 && named.length > 0
  const fits = !isRestricted || heard.filter((channel) => named.includes(channel)).length > 0
  return fits ? 'matches' : 'channels'
}

describe('the type of a message', () => {
  const longest = `a.${'b'.repeat(254)}`

  test.each(['user', 'user.created', 'a.b.c.d', 'User_2.is-new', '0', '_', '-', longest])(
    '%s is one',
    (text) => expect(() => checkEventType(text, 'event_type')).not.toThrow(),
  )

  test.each([...['', '.', '.a', 'a.', 'a..b', 'a b', 'a.*', '*', 'a/b', 'é', 'a\n', ' a', 'a:b']])(
    '%j is none',
    (text) => {
      expect(() => checkEventType(text, 'event_type')).toThrow('event_type: must be words of')
    },
  )

  test('has 256 characters at most', () => {
    expect(() => checkEventType(`${longest}b`, 'type')).toThrow(
      'type: must have at most 256 characters',
    )
    expect(() => checkEventType('a.'.repeat(1_000_000), 'type')).toThrow(
      'type: must have at most 256 characters',
    )
  })
})

describe('what an endpoint lists', () => {
  const longest = `${'a'.repeat(254)}.*`

  test.each(['*', 'user', 'user.created', 'user.*', 'user.profile.*', longest])(
    '%s may be',
    (text) => expect(() => checkTypePattern(text, 'event_types')).not.toThrow(),
  )

  test.each([
    ...['', '.*', '**', '*.*', '*.created', 'user*', 'user.*.created', 'user.**', 'user.*.*'],
    ...['us*er', 'user.', 'user.* ', 'user.*\n'],
  ])('%j may not', (text) => {
    expect(() => checkTypePattern(text, 'event_types')).toThrow(
      'event_types: must be a type like user.created',
    )
  })

  test('has 256 characters at most', () => {
    expect(() => checkTypePattern(`a${longest}`, 'event_types')).toThrow(
      'event_types: must have at most 256 characters',
    )
  })
})

describe('a channel', () => {
  test.each(['a', 'project:42', 'eu-west_1.prod', 'A'.repeat(128)])('can be %s', (text) => {
    expect(() => checkChannel(text, 'channels')).not.toThrow()
  })

  test.each(['', 'A'.repeat(129), 'a b', 'a/b', 'é', 'a\n', '*'])('cannot be %j', (text) => {
    expect(() => checkChannel(text, 'channels')).toThrow('channels: must be 1 to 128 letters')
  })
})

test('all of these are invalid input', () => {
  const kind = expect.objectContaining({ kind: 'invalid' })
  expect(() => checkEventType('', 'a')).toThrow(kind)
  expect(() => checkTypePattern('', 'a')).toThrow(kind)
  expect(() => checkChannel('', 'a')).toThrow(kind)
})
