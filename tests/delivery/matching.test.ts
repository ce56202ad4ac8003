import { expect, test } from 'bun:test'
import {
  checkChannel,
  checkEventType,
  checkTypePattern,
  compileFilter,
  matchOf,
} from '../../src/delivery/matching.ts'
import { ruleOf } from '../engines/gate/identities/documents/support.ts'

test.each<[patterns: string[] | null, matching: string, others: string]>([
  [null, 'user job.failed', '!usage.threshold !job.failed'],
  [['*'], 'user job.failed', '!usage.threshold !job.failed'],
  [['monitor.*'], '!monitor.down !monitor.up', '!usage.threshold'],
  [['a.*', '*', 'job.failed'], 'a.b user job.recovered !job.failed', '!job.recovered'],
  [[], '', 'user'],
  [
    ['order.paid', 'user.created'],
    'user.created',
    'user user.created.late user.create User.created',
  ],
  [['user.*'], 'user.created user.profile.changed', 'user users.created admin.user.created'],
  [['user.profile.*', 'a.*'], 'user.profile.changed a.b', 'user.created a'],
  [['invoice', 'order.*', 'order'], 'invoice order order.a.b', 'invoice.paid user'],
])(
  'The event types %j match %j, but not %j (!: an operational event)',
  (eventTypes, matching, others) => {
    const resultOf = (text: string) => {
      const message = { type: text.replace('!', ''), isOperational: text.startsWith('!') }
      return matchOf({ eventTypes, channels: [] }, { ...message, channels: [] })
    }
    for (const type of matching.split(' ').filter(Boolean)) expect(resultOf(type)).toBe('matches')
    for (const type of others.split(' ').filter(Boolean)) expect(resultOf(type)).toBe('event_type')
  },
)

test.each([
  [[], [], 'matches'],
  [[], ['eu'], 'matches'],
  [['eu'], [], 'matches'],
  [['eu', 'us'], ['jp', 'us'], 'matches'],
  [['eu', 'us'], ['jp'], 'channels'],
  [['eu'], ['EU'], 'channels'],
] as const)('The channels %j and %j of a message: %s', (channels, named, result) => {
  const filter = { eventTypes: ['user.*'], channels: [...channels] }
  const message = { channels: [...named], isOperational: false }
  expect(matchOf(filter, { type: 'user.a', ...message })).toBe(result)
  expect(matchOf(filter, { type: 'order', ...message })).toBe('event_type')
})

test('Later changes of its lists do not count for a compiled filter', () => {
  const list = ['a']
  const compiled = compileFilter({ eventTypes: list, channels: [] })
  list.push('b')
  expect(compiled({ type: 'b', channels: [], isOperational: false })).toBe('event_type')
})

test('An event type is a dotted name, and a pattern may end with *', () => {
  const longType = `a.${'b'.repeat(254)}`
  const longPattern = `${'a'.repeat(254)}.*`
  const typeRule = (text: string) => ruleOf(() => checkEventType(text, 'type'))
  const patternRule = (text: string) => ruleOf(() => checkTypePattern(text, 'types'))
  const types = ['user', 'user.created', 'a.b.c.d', 'User_2.is-new', '0', '_', '-', longType]
  for (const text of types)
    expect([text, typeRule(text), patternRule(text)]).toEqual([text, undefined, undefined])
  for (const text of ['*', 'user.*', 'user.profile.*', longPattern])
    expect([text, typeRule(text), patternRule(text)]).toEqual([text, 'type format', undefined])
  for (const text of [
    ...['', '.', '.a', 'a.', 'a..b', 'a b', 'a/b', 'é', 'a\n', ' a', 'a:b', '.*', '**', '*.*'],
    ...['*.created', 'user*', 'user.*.created', 'user.**', 'user.*.*', 'us*er', 'user.* '],
  ])
    expect([text, typeRule(text), patternRule(text)]).toEqual([text, 'type format', 'types format'])
  for (const text of [`${longType}b`, 'a.'.repeat(1_000_000)])
    expect(typeRule(text)).toBe('type too_long')
  expect(patternRule(`a${longPattern}`)).toBe('types too_long')
})

test('A channel is a name of up to 128 characters', () => {
  const isChannel = (text: string) => ruleOf(() => checkChannel(text, 'channels')) === undefined
  const good = ['a', 'project:42', 'eu-west_1.prod', 'A'.repeat(128)]
  const bad = ['A'.repeat(129), '', 'a b', 'a/b', 'é', 'a\n', '*']
  expect([...good, ...bad].filter(isChannel)).toEqual(good)
})
