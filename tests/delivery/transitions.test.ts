import { describe, expect, test } from 'bun:test'
import { firstState, handlingOf, requireActive, stepAt } from '../../src/delivery/paused.ts'
import { DELIVERY_QUEUES, type Step } from '../../src/delivery/store/rows.ts'
import {
  cancelled,
  newRun,
  type Outcome,
  resendNow,
  stepAfter,
} from '../../src/delivery/transitions.ts'

const NOW = 1_000_000
const CREATED = 500_000
const SCHEDULE = { retryDelaysMs: [5000, 60_000], jitter: 0.2, random: () => 0 }
const { first, again } = DELIVERY_QUEUES

type Row = Parameters<typeof stepAfter>[0]

/** A delivery during its first attempt. */
const leased = (change: Partial<Row> = {}): Row => ({
  seq: 1,
  id: 'delivery',
  tenantId: 'tenant',
  stream: 'relay.live',
  messageSeq: 1,
  endpointId: 'endpoint',
  format: 'standard',
  state: 'leased',
  queue: first,
  run: 1,
  attempts: 0,
  tries: 0,
  trigger: 'schedule',
  dueAt: CREATED,
  resumeAt: null,
  wanted: null,
  createdAt: CREATED,
  succeededAt: null,
  endedAt: null,
  ...change,
})

const after = (
  row: Partial<Row>,
  result: Outcome['result'],
  change: Partial<Outcome> = {},
  schedule = SCHEDULE,
): Step => {
  const outcome = { result, refuses: null, retryAfterMs: null, endedAt: NOW, ...change }
  return stepAfter(leased(row), outcome, schedule)
}

/** A resend during the wait for the second retry. */
const RESEND: Partial<Row> = {
  trigger: 'resend',
  attempts: 2,
  tries: 2,
  dueAt: NOW - 10,
  resumeAt: NOW + 40_000,
}
const LAST: Partial<Row> = { attempts: 2, tries: 2 }

test.each<[string, Partial<Row>, Outcome['result'], Partial<Outcome>, Partial<Step>]>([
  [
    'A success ends the delivery',
    { attempts: 1, tries: 1 },
    'succeeded',
    {},
    { state: 'succeeded', attempts: 2, endedAt: NOW },
  ],
  [
    'A failure is retried, behind first attempts',
    {},
    'failed',
    {},
    {
      state: 'waiting',
      queue: again,
      trigger: 'schedule',
      attempts: 1,
      tries: 1,
      dueAt: NOW + 5000,
      endedAt: null,
    },
  ],
  [
    'A delay depends on the attempts of the run, not on all attempts',
    { attempts: 7, tries: 1 },
    'failed',
    {},
    { attempts: 8, tries: 2, dueAt: NOW + 60_000 },
  ],
  [
    'The last failure ends it',
    LAST,
    'failed',
    {},
    { state: 'failed', attempts: 3, tries: 3, endedAt: NOW },
  ],
  [
    'A long Retry-After is respected',
    {},
    'failed',
    { retryAfterMs: 30_000 },
    { dueAt: NOW + 30_000 },
  ],
  ['A short Retry-After is not', {}, 'failed', { retryAfterMs: 1000 }, { dueAt: NOW + 5000 }],
  ['A replay stays a replay', { trigger: 'replay' }, 'failed', {}, { trigger: 'replay' }],
  [
    'A receiver that wants nothing more ends it',
    {},
    'failed',
    { refuses: 'all' },
    { state: 'failed', attempts: 1, endedAt: NOW },
  ],
  [
    "A receiver that doesn't want the message cancels it",
    {},
    'failed',
    { refuses: 'message' },
    { state: 'cancelled', attempts: 1, endedAt: NOW },
  ],
  [
    'A success that refuses more is a success',
    {},
    'succeeded',
    { refuses: 'all' },
    { state: 'succeeded' },
  ],
  [
    'One that refuses the message, too',
    {},
    'succeeded',
    { refuses: 'message' },
    { state: 'succeeded' },
  ],
  [
    'A failed resend leaves the schedule, whatever Retry-After says',
    RESEND,
    'failed',
    { retryAfterMs: 90_000 },
    {
      state: 'waiting',
      queue: again,
      trigger: 'schedule',
      attempts: 3,
      tries: 2,
      dueAt: NOW + 40_000,
      resumeAt: null,
    },
  ],
  [
    'A successful resend ends it',
    RESEND,
    'succeeded',
    {},
    { state: 'succeeded', attempts: 3, resumeAt: null, endedAt: NOW },
  ],
  [
    'A resend requested during an attempt follows it, before the schedule',
    { wanted: 'resend' },
    'failed',
    {},
    { state: 'ready', trigger: 'resend', tries: 1, dueAt: NOW, resumeAt: NOW + 5000, wanted: null },
  ],
  [
    'A resend requested during a resend follows it, too',
    { ...RESEND, wanted: 'resend' },
    'failed',
    {},
    {
      state: 'ready',
      trigger: 'resend',
      tries: 2,
      dueAt: NOW,
      resumeAt: NOW + 40_000,
      wanted: null,
    },
  ],
  [
    'A resend requested during the last attempt is a new run',
    { ...LAST, wanted: 'resend' },
    'failed',
    {},
    {
      state: 'ready',
      trigger: 'resend',
      run: 2,
      attempts: 3,
      tries: 0,
      wanted: null,
      endedAt: null,
    },
  ],
  [
    'A resend requested during a successful attempt is unnecessary',
    { wanted: 'resend' },
    'succeeded',
    {},
    { state: 'succeeded', wanted: null },
  ],
  [
    'A delivery cancelled during an attempt is not retried',
    { wanted: 'cancel' },
    'failed',
    {},
    { state: 'cancelled', attempts: 1, wanted: null, endedAt: NOW },
  ],
  [
    'It succeeds if the attempt does',
    { wanted: 'cancel' },
    'succeeded',
    {},
    { state: 'succeeded' },
  ],
  [
    'It is cancelled if the attempt is interrupted',
    { wanted: 'cancel' },
    'interrupted',
    {},
    { state: 'cancelled', attempts: 0, wanted: null, endedAt: NOW },
  ],
])('%s', (_, row, result, change, step) => {
  expect(after(row, result, change)).toMatchObject(step)
})

test('The only attempt of a schedule ends the delivery', () => {
  const once = { ...SCHEDULE, retryDelaysMs: [] }
  expect(after({}, 'failed', {}, once)).toMatchObject({ state: 'failed', attempts: 1 })
})

test('A retry is delayed by the jitter of its schedule', () => {
  const late = { ...SCHEDULE, random: () => 0.5 }
  expect(after({}, 'failed', {}, late).dueAt).toBe(NOW + 5500)
  expect(after({}, 'failed', {}, { ...late, jitter: 0 }).dueAt).toBe(NOW + 5000)
})

test.each<[string, Partial<Row>]>([
  ['A first attempt', {}],
  ['A retry', { queue: again, attempts: 1, tries: 1 }],
  ['A resend', RESEND],
  ['An attempt with a requested resend', { wanted: 'resend' }],
])('%s that is interrupted is repeated without being counted', (_, row) => {
  const { state, ...same } = after(row, 'interrupted')
  expect(state).toBe('ready')
  expect(leased(row)).toMatchObject(same)
})

test('A resend of a waiting delivery is sent now, and keeps the time of the schedule', () => {
  const waiting = leased({ state: 'waiting', queue: again, tries: 2, dueAt: NOW + 40_000 })
  const once = resendNow(waiting, NOW)
  const sent = { state: 'ready', queue: first, trigger: 'resend', tries: 2 }
  expect(once).toMatchObject({ ...sent, dueAt: NOW, resumeAt: NOW + 40_000 })
  const twice = { dueAt: NOW + 5, resumeAt: NOW + 40_000 }
  expect(resendNow(once as Row, NOW + 5)).toMatchObject(twice)
})

describe('A delivery that has ended', () => {
  const ended = { ...leased({ attempts: 3, tries: 3, endedAt: NOW - 1 }), state: 'failed' as const }

  test('starts a new run with the whole schedule when it is resent', () => {
    const run = newRun(ended, 'resend', NOW)
    expect(run).toMatchObject({
      ...{ state: 'ready', queue: first, run: 2, attempts: 3, tries: 0 },
      ...{ dueAt: NOW, resumeAt: null, endedAt: null },
    })
    expect(after({ ...run, state: 'leased' }, 'failed')).toMatchObject({
      ...{ state: 'waiting', trigger: 'schedule', attempts: 4, tries: 1, dueAt: NOW + 5000 },
    })
  })

  test('waits behind first attempts when it is replayed', () => {
    const run = { state: 'waiting', queue: again, run: 2, dueAt: NOW + 100 }
    expect(newRun(ended, 'replay', NOW + 100)).toMatchObject(run)
  })
})

test('A cancelled delivery keeps its number of attempts', () => {
  const step = { state: 'cancelled', attempts: 4, endedAt: NOW }
  expect(cancelled(leased({ attempts: 4 }), NOW)).toMatchObject(step)
})

const active = { isActive: true }
const paused = { isActive: false }

test('Deliveries of a paused endpoint are held, those of a deleted one cancelled', () => {
  expect([active, paused, undefined].map(handlingOf)).toEqual(['send', 'hold', 'cancel'])
  requireActive(active, 'resend')
  for (const action of ['resend', 'replay'] as const)
    for (const endpoint of [paused, undefined])
      expect(() => requireActive(endpoint, action)).toThrow(
        expect.objectContaining({ kind: 'conflict' }),
      )
})

test.each([
  [true, false, 0, 'ready'],
  [true, false, 1, 'waiting'],
  [false, false, 0, 'held'],
  [false, false, 1, 'held'],
  [true, true, 0, 'held'],
  [false, true, 1, 'held'],
] as const)(
  'New deliveries: active %p, breaker open %p, delay %d: %s',
  (isActive, isBreakerOpen, firstDelayMs, state) => {
    expect(firstState({ isActive, isBreakerOpen }, { firstDelayMs })).toBe(state)
  },
)

test('After an attempt, an endpoint that was paused or deleted gets no retry', () => {
  const step = { state: 'waiting', dueAt: 5, endedAt: null, wanted: null } as Step
  const ended = { state: 'succeeded', dueAt: 5, endedAt: 7, wanted: null } as Step
  expect(stepAt(active, step, 9)).toBe(step)
  expect(stepAt(paused, step, 9)).toEqual({ ...step, state: 'held' })
  expect(stepAt(undefined, step, 9)).toMatchObject({ state: 'cancelled', endedAt: 9 })
  for (const endpoint of [active, paused, undefined]) expect(stepAt(endpoint, ended, 9)).toBe(ended)
})
