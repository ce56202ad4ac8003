import { describe, expect, test } from 'bun:test'
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

type Row = Parameters<typeof stepAfter>[0]

/** A delivery with its first attempt under way. */
const leased = (change: Partial<Row> = {}): Row => ({
  seq: 1,
  id: 'delivery',
  tenantId: 'tenant',
  stream: 'relay.live',
  messageSeq: 1,
  endpointId: 'endpoint',
  format: 'standard',
  state: 'leased',
  queue: DELIVERY_QUEUES.first,
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

const outcome = (result: Outcome['result'], change: Partial<Outcome> = {}): Outcome => ({
  result,
  refuses: null,
  retryAfterMs: null,
  endedAt: NOW,
  ...change,
})

const after = (row: Partial<Row>, ended: Outcome, schedule = SCHEDULE): Step =>
  stepAfter(leased(row), ended, schedule)

/** A resend of a delivery that waits for its second retry. */
const RESEND: Partial<Row> = {
  trigger: 'resend',
  attempts: 2,
  tries: 2,
  dueAt: NOW - 10,
  resumeAt: NOW + 40_000,
}

describe('an attempt of the schedule', () => {
  test('that succeeds ends the delivery', () => {
    expect(after({ attempts: 1, tries: 1 }, outcome('succeeded'))).toMatchObject({
      state: 'succeeded',
      attempts: 2,
      endedAt: NOW,
    })
  })

  test('that fails is followed by the next, in the line of those that are tried again', () => {
    expect(after({}, outcome('failed'))).toMatchObject({
      state: 'waiting',
      queue: DELIVERY_QUEUES.again,
      trigger: 'schedule',
      attempts: 1,
      tries: 1,
      dueAt: NOW + 5000,
      endedAt: null,
    })
  })

  test('counts by its place in the run, not by all attempts there were', () => {
    expect(after({ attempts: 7, tries: 1 }, outcome('failed'))).toMatchObject({
      attempts: 8,
      tries: 2,
      dueAt: NOW + 60_000,
    })
  })

  test('that is the last and fails ends the delivery', () => {
    expect(after({ attempts: 2, tries: 2 }, outcome('failed'))).toMatchObject({
      state: 'failed',
      attempts: 3,
      tries: 3,
      endedAt: NOW,
    })
  })

  test('that is the only one ends it at once', () => {
    expect(after({}, outcome('failed'), { ...SCHEDULE, retryDelaysMs: [] })).toMatchObject({
      state: 'failed',
      attempts: 1,
    })
  })

  test('waits as long as the receiver asks', () => {
    expect(after({}, outcome('failed', { retryAfterMs: 30_000 })).dueAt).toBe(NOW + 30_000)
    expect(after({}, outcome('failed', { retryAfterMs: 1000 })).dueAt).toBe(NOW + 5000)
  })

  test('is put off by the share of chance that its schedule has', () => {
    const late = { ...SCHEDULE, random: () => 0.5 }

    expect(after({}, outcome('failed'), late).dueAt).toBe(NOW + 5500)
    expect(after({}, outcome('failed'), { ...late, jitter: 0 }).dueAt).toBe(NOW + 5000)
  })

  test('of a replay stays one of a replay when it is tried again', () => {
    expect(after({ trigger: 'replay' }, outcome('failed')).trigger).toBe('replay')
  })
})

describe('what was interrupted', () => {
  test.each([
    ['a first attempt', {}],
    ['a retry', { queue: DELIVERY_QUEUES.again, attempts: 1, tries: 1 }],
    ['a resend', RESEND],
    ['an attempt during which a resend was asked for', { wanted: 'resend' as const }],
  ])('goes on at once with nothing counted: %s', (_, row: Partial<Row>) => {
    const { state, ...same } = after(row, outcome('interrupted'))

    expect(state).toBe('ready')
    expect(leased(row)).toMatchObject(same)
  })

  test('is cancelled where that was asked for', () => {
    expect(after({ wanted: 'cancel' }, outcome('interrupted'))).toMatchObject({
      state: 'cancelled',
      attempts: 0,
      wanted: null,
      endedAt: NOW,
    })
  })
})

describe('a receiver that wants no more', () => {
  test('of anything: the delivery has failed, whatever the schedule holds', () => {
    expect(after({}, outcome('failed', { refuses: 'all' }))).toMatchObject({
      state: 'failed',
      attempts: 1,
      endedAt: NOW,
    })
  })

  test('of this message: the delivery is cancelled', () => {
    expect(after({}, outcome('failed', { refuses: 'message' }))).toMatchObject({
      state: 'cancelled',
      attempts: 1,
      endedAt: NOW,
    })
  })

  test.each(['all', 'message'] as const)('(%s) has got it when it says so in a 2xx', (refuses) => {
    expect(after({}, outcome('succeeded', { refuses })).state).toBe('succeeded')
  })
})

describe('a resend of a delivery that waits', () => {
  test('takes place now, and keeps the time of the schedule', () => {
    const waiting = leased({
      state: 'waiting',
      queue: DELIVERY_QUEUES.again,
      tries: 2,
      dueAt: NOW + 40_000,
    })

    expect(resendNow(waiting, NOW)).toMatchObject({
      state: 'ready',
      queue: DELIVERY_QUEUES.first,
      trigger: 'resend',
      dueAt: NOW,
      resumeAt: NOW + 40_000,
      tries: 2,
    })
  })

  test('keeps that time also when it is asked for twice', () => {
    const once = resendNow(leased({ dueAt: NOW + 40_000 }), NOW)

    expect(resendNow(once, NOW + 5)).toMatchObject({ dueAt: NOW + 5, resumeAt: NOW + 40_000 })
  })

  test('leaves the schedule as it was when it fails, whatever the receiver asks for', () => {
    expect(after(RESEND, outcome('failed', { retryAfterMs: 90_000 }))).toMatchObject({
      state: 'waiting',
      queue: DELIVERY_QUEUES.again,
      trigger: 'schedule',
      attempts: 3,
      tries: 2,
      dueAt: NOW + 40_000,
      resumeAt: null,
    })
  })

  test('ends the delivery when it succeeds', () => {
    expect(after(RESEND, outcome('succeeded'))).toMatchObject({
      state: 'succeeded',
      attempts: 3,
      resumeAt: null,
      endedAt: NOW,
    })
  })
})

describe('a resend that is asked for while an attempt is under way', () => {
  test('follows it, and the schedule goes on after both', () => {
    expect(after({ wanted: 'resend' }, outcome('failed'))).toMatchObject({
      state: 'ready',
      trigger: 'resend',
      tries: 1,
      dueAt: NOW,
      resumeAt: NOW + 5000,
      wanted: null,
    })
  })

  test('follows a resend as well, which keeps the time of the schedule', () => {
    expect(after({ ...RESEND, wanted: 'resend' }, outcome('failed'))).toMatchObject({
      state: 'ready',
      trigger: 'resend',
      tries: 2,
      dueAt: NOW,
      resumeAt: NOW + 40_000,
      wanted: null,
    })
  })

  test('is a new run when that attempt was the last', () => {
    expect(after({ attempts: 2, tries: 2, wanted: 'resend' }, outcome('failed'))).toMatchObject({
      state: 'ready',
      trigger: 'resend',
      run: 2,
      attempts: 3,
      tries: 0,
      wanted: null,
      endedAt: null,
    })
  })

  test('is not needed any more when that attempt succeeds', () => {
    expect(after({ wanted: 'resend' }, outcome('succeeded'))).toMatchObject({
      state: 'succeeded',
      wanted: null,
    })
  })
})

describe('a delivery that is cancelled while an attempt is under way', () => {
  test('is not tried again', () => {
    expect(after({ wanted: 'cancel' }, outcome('failed'))).toMatchObject({
      state: 'cancelled',
      attempts: 1,
      wanted: null,
      endedAt: NOW,
    })
  })

  test('has succeeded all the same when that attempt does', () => {
    expect(after({ wanted: 'cancel' }, outcome('succeeded')).state).toBe('succeeded')
  })
})

describe('a delivery that has ended', () => {
  const ended = { ...leased({ attempts: 3, tries: 3, endedAt: NOW - 1 }), state: 'failed' as const }

  test('begins a new run at once when it is sent again, with its whole schedule before it', () => {
    const run = newRun(ended, 'resend', NOW)

    expect(run).toMatchObject({
      state: 'ready',
      queue: DELIVERY_QUEUES.first,
      run: 2,
      attempts: 3,
      tries: 0,
      dueAt: NOW,
      resumeAt: null,
      endedAt: null,
    })
    expect(after({ ...run, state: 'leased' }, outcome('failed'))).toMatchObject({
      state: 'waiting',
      trigger: 'schedule',
      attempts: 4,
      tries: 1,
      dueAt: NOW + 5000,
    })
  })

  test('waits for its turn, behind first attempts, when it is replayed', () => {
    expect(newRun(ended, 'replay', NOW + 100)).toMatchObject({
      state: 'waiting',
      queue: DELIVERY_QUEUES.again,
      run: 2,
      dueAt: NOW + 100,
    })
  })
})

test('what is cancelled keeps its count of attempts', () => {
  expect(cancelled(leased({ attempts: 4 }), NOW)).toMatchObject({
    state: 'cancelled',
    attempts: 4,
    endedAt: NOW,
  })
})
