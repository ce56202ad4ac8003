import { expect, test } from 'bun:test'
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
  ...{ seq: 1, id: 'delivery', tenantId: 'tenant', stream: 'relay.live', messageSeq: 1 },
  ...{ endpointId: 'endpoint', format: 'standard', state: 'leased', queue: first, run: 1 },
  ...{ attempts: 0, tries: 0, trigger: 'schedule', dueAt: CREATED, resumeAt: null, wanted: null },
  ...{ createdAt: CREATED, succeededAt: null, endedAt: null },
  ...change,
})

const after = (row: Partial<Row>, change: Partial<Outcome>, schedule = SCHEDULE): Step => {
  const failed = { result: 'failed', refuses: null, retryAfterMs: null, endedAt: NOW } as const
  return stepAfter(leased(row), { ...failed, ...change }, schedule)
}

/** A resend during the wait for the second retry. */
const RESEND: Partial<Row> = {
  ...({ trigger: 'resend', attempts: 2, tries: 2 } as const),
  ...{ dueAt: NOW - 10, resumeAt: NOW + 40_000 },
}
const RETRY: Partial<Row> = { attempts: 1, tries: 1 }
const LAST: Partial<Row> = { attempts: 2, tries: 2 }
const OK: Partial<Outcome> = { result: 'succeeded' }
const queued = { state: 'ready', trigger: 'resend', wanted: null } as const
const waits = { state: 'waiting', queue: again, trigger: 'schedule' } as const
const failed = { state: 'failed', endedAt: NOW } as const
const succeeded = { state: 'succeeded', endedAt: NOW, wanted: null } as const
const stopped = { state: 'cancelled', endedAt: NOW, wanted: null } as const
const anotherRun = { ...queued, run: 2, attempts: 3, tries: 0 }

test.each<[string, Partial<Row>, Partial<Outcome>, Partial<Step>]>([
  ['A success ends it', RETRY, OK, { ...succeeded, attempts: 2 }],
  ['A failure is retried, behind first attempts', {}, {}, { ...waits, attempts: 1, tries: 1 }],
  ['A failure is retried after its delay', {}, {}, { dueAt: NOW + 5000, endedAt: null }],
  ['Tries count', { attempts: 7, tries: 1 }, {}, { attempts: 8, tries: 2, dueAt: NOW + 60_000 }],
  ['The last failure ends it', LAST, {}, { ...failed, attempts: 3, tries: 3 }],
  ['A long Retry-After counts', {}, { retryAfterMs: 30_000 }, { dueAt: NOW + 30_000 }],
  ['A short Retry-After does not', {}, { retryAfterMs: 1000 }, { dueAt: NOW + 5000 }],
  ['A replay stays a replay', { trigger: 'replay' }, {}, { trigger: 'replay' }],
  ['A refusal of all ends it', {}, { refuses: 'all' }, failed],
  ['A refusal of one cancels it', {}, { refuses: 'message' }, stopped],
  ['A success that refuses more', {}, { ...OK, refuses: 'all' }, succeeded],
  ['A success that refuses the message', {}, { ...OK, refuses: 'message' }, succeeded],
  ['A failed resend keeps the schedule', RESEND, {}, { ...waits, attempts: 3, tries: 2 }],
  ['A failed resend', RESEND, { retryAfterMs: 90_000 }, { dueAt: NOW + 40_000, resumeAt: null }],
  ['A resend ends it', RESEND, OK, { ...succeeded, attempts: 3, resumeAt: null }],
  ['A wanted resend follows', { wanted: 'resend' }, {}, { ...queued, tries: 1, dueAt: NOW }],
  ['It precedes the schedule', { wanted: 'resend' }, {}, { resumeAt: NOW + 5000 }],
  ['It follows a resend', { ...RESEND, wanted: 'resend' }, {}, { ...queued, tries: 2, dueAt: NOW }],
  ['It keeps the schedule', { ...RESEND, wanted: 'resend' }, {}, { resumeAt: NOW + 40_000 }],
  ['It follows the last', { ...LAST, wanted: 'resend' }, {}, anotherRun],
  ['A wanted resend, after a success', { wanted: 'resend' }, OK, succeeded],
  ['Cancelled', { wanted: 'cancel' }, {}, { ...stopped, attempts: 1 }],
  ['Cancelled, but it succeeds', { wanted: 'cancel' }, OK, succeeded],
  ['Cut short', { wanted: 'cancel' }, { result: 'interrupted' }, { ...stopped, attempts: 0 }],
])('After an attempt: %s', (_, row, change, step) => {
  expect(after(row, change)).toMatchObject(step)
})

test('A retry is delayed by the jitter of its schedule, which may have only one attempt', () => {
  const once = { ...SCHEDULE, retryDelaysMs: [] }
  expect(after({}, {}, once)).toMatchObject({ state: 'failed', attempts: 1 })
  const late = { ...SCHEDULE, random: () => 0.5 }
  expect(after({}, {}, late).dueAt).toBe(NOW + 5500)
  expect(after({}, {}, { ...late, jitter: 0 }).dueAt).toBe(NOW + 5000)
})

test('An attempt that is interrupted is repeated without being counted', () => {
  for (const row of [{}, { ...RETRY, queue: again }, RESEND, { wanted: 'resend' }] as const) {
    const { state, ...same } = after(row, { result: 'interrupted' })
    expect(state).toBe('ready')
    expect(leased(row)).toMatchObject(same)
  }
})

test('A resend of a waiting delivery is sent now, and keeps the time of the schedule', () => {
  const waiting = leased({ state: 'waiting', queue: again, tries: 2, dueAt: NOW + 40_000 })
  const once = resendNow(waiting, NOW)
  const sent = { state: 'ready', queue: first, trigger: 'resend', tries: 2 }
  expect(once).toMatchObject({ ...sent, dueAt: NOW, resumeAt: NOW + 40_000 })
  const twice = { dueAt: NOW + 5, resumeAt: NOW + 40_000 }
  expect(resendNow(once as Row, NOW + 5)).toMatchObject(twice)
})

test('A delivery that has ended starts a new run with its whole schedule, a replay behind others', () => {
  const ended = { ...leased({ attempts: 3, tries: 3, endedAt: NOW - 1 }), state: 'failed' as const }
  const run = newRun(ended, 'resend', NOW)
  expect(run).toMatchObject({ state: 'ready', queue: first, run: 2, attempts: 3, tries: 0 })
  expect(run).toMatchObject({ dueAt: NOW, resumeAt: null, endedAt: null })
  const next = { ...waits, attempts: 4, tries: 1, dueAt: NOW + 5000 }
  expect(after({ ...run, state: 'leased' }, {})).toMatchObject(next)
  const replay = { state: 'waiting', queue: again, run: 2, dueAt: NOW + 100 }
  expect(newRun(ended, 'replay', NOW + 100)).toMatchObject(replay)
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

test('New deliveries are held while the endpoint is paused or its breaker open', () => {
  for (const [isActive, isBreakerOpen, firstDelayMs, state] of [
    [true, false, 0, 'ready'],
    [true, false, 1, 'waiting'],
    [false, false, 1, 'held'],
    [true, true, 0, 'held'],
  ] as const)
    expect(firstState({ isActive, isBreakerOpen }, { firstDelayMs })).toBe(state)
})

test('After an attempt, an endpoint that was paused or deleted gets no retry', () => {
  const step = { state: 'waiting', dueAt: 5, endedAt: null, wanted: null } as Step
  const ended = { state: 'succeeded', dueAt: 5, endedAt: 7, wanted: null } as Step
  expect(stepAt(active, step, 9)).toBe(step)
  expect(stepAt(paused, step, 9)).toEqual({ ...step, state: 'held' })
  expect(stepAt(undefined, step, 9)).toMatchObject({ state: 'cancelled', endedAt: 9 })
  for (const endpoint of [active, paused, undefined]) expect(stepAt(endpoint, ended, 9)).toBe(ended)
})
