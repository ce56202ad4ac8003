import { describe, expect, test } from 'bun:test'
import {
  afterFailure,
  afterSuccess,
  HEALTHY,
  type Health,
  halfOpen,
  isHopeless,
  isOpen,
} from '../../src/delivery/health.ts'

const NOW = Date.parse('2026-03-01T12:00:00.000Z')
const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const RULES = { breakerFailures: 5 }

const failing = (times: number, from: Health = HEALTHY, now = NOW): Health =>
  Array.from({ length: times }).reduce<Health>((health) => afterFailure(health, now, RULES), from)

const tripped = (health: Health = HEALTHY) => failing(5, health)

/** Opens, and fails its one attempt after each pause, so many times. */
function trippedAgain(times: number): Health {
  let health = tripped()
  for (let n = 0; n < times; n++)
    health = afterFailure(halfOpen(health), health.openUntil as number, RULES)
  return health
}

describe('the breaker', () => {
  test('stays closed until so many failures have come in a row', () => {
    expect(isOpen(failing(4))).toBe(false)
    expect(isOpen(failing(5))).toBe(true)
    expect(failing(4)).toMatchObject({ failures: 4, openUntil: null, window: null })
  })

  test('counts from nothing again after a success', () => {
    expect(isOpen(failing(4, afterSuccess(failing(4))))).toBe(false)
  })

  test('opens at the first failure where the configuration says 1', () => {
    expect(isOpen(afterFailure(HEALTHY, NOW, { breakerFailures: 1 }))).toBe(true)
  })

  test('opens for 30 seconds first', () => {
    expect(tripped()).toMatchObject({ openUntil: NOW + 30 * SECOND, trips: 1, window: 1 })
  })

  test('stays as it is when attempts that began before it opened fail as well', () => {
    const late = failing(11, tripped(), NOW + 20 * SECOND)

    expect(late).toMatchObject({ openUntil: NOW + 30 * SECOND, trips: 1, failedAttempts: 16 })
  })

  test.each([
    [1, 60 * SECOND],
    [2, 2 * MINUTE],
    [3, 4 * MINUTE],
    [4, 8 * MINUTE],
    [5, 10 * MINUTE],
    [6, 10 * MINUTE],
    [2000, 10 * MINUTE],
  ])('after %i failed trials it waits %i ms', (times, pause) => {
    const before = trippedAgain(times - 1)

    const after = trippedAgain(times)

    expect((after.openUntil as number) - (before.openUntil as number)).toBe(pause)
  })

  test('lets one attempt through after its pause, and one failure is enough to open it', () => {
    const trial = halfOpen(tripped())

    expect(trial).toMatchObject({ openUntil: null, window: 1 })
    expect(isOpen(afterFailure(trial, NOW, RULES))).toBe(true)
  })

  test('knows of a failed trial that it is one more failure in a row', () => {
    expect(trippedAgain(1).failures).toBe(6)
    expect(trippedAgain(1).failedAttempts).toBe(6)
  })

  test('is closed by the success of an attempt from before it opened, with a slow start', () => {
    expect(afterSuccess(tripped())).toEqual({ ...HEALTHY, window: 1, trips: 1 })
  })
})

describe('the slow start', () => {
  test('doubles with each success until the usual number is reached', () => {
    const windows: (number | null)[] = []
    let health = halfOpen(tripped())
    while (health.window !== null) {
      windows.push(health.window)
      health = afterSuccess(health)
    }

    expect(windows).toEqual([1, 2, 4, 8])
    expect(health).toEqual(HEALTHY)
  })

  test('that breaks down makes the next pause longer than the one before', () => {
    const recovering = afterSuccess(afterSuccess(halfOpen(tripped())))

    const broken = failing(5, recovering)

    expect(broken).toMatchObject({ openUntil: NOW + 60 * SECOND, trips: 2, window: 1 })
  })

  test('that is gone through makes the next pause a short one again', () => {
    let health = halfOpen(trippedAgain(4))
    while (health.window !== null) health = afterSuccess(health)

    expect(tripped(health)).toMatchObject({ openUntil: NOW + 30 * SECOND, trips: 1 })
  })

  test('does not concern an endpoint that has been well all along', () => {
    expect(afterSuccess(HEALTHY)).toEqual(HEALTHY)
  })
})

describe('since when an endpoint fails', () => {
  test('is the time of the first failure, however many follow', () => {
    const health = afterFailure(failing(3), NOW + DAY, RULES)

    expect(health).toMatchObject({ failingSince: NOW, failedAttempts: 4 })
  })

  test('is forgotten with a success', () => {
    expect(afterSuccess(failing(3))).toMatchObject({ failingSince: null, failedAttempts: 0 })
  })
})

describe('an endpoint is given up', () => {
  const now = NOW + 6 * DAY
  const lost: Health = { ...HEALTHY, failedAttempts: 20, failingSince: now - 12 * HOUR }
  const good = now - 5 * DAY

  test('after 5 days without success and 20 failures over 12 hours', () => {
    expect(isHopeless(lost, now, () => good)).toBe(true)
  })

  test.each<[string, Health, number]>([
    ['19 failures', { ...lost, failedAttempts: 19 }, good],
    [
      'a millisecond less than 12 hours of them',
      { ...lost, failingSince: now - 12 * HOUR + 1 },
      good,
    ],
    ['a success a millisecond less than 5 days ago', lost, good + 1],
    ['no failure at all', HEALTHY, good],
  ])('but not with %s', (_, health, lastGoodAt) => {
    expect(isHopeless(health, now, () => lastGoodAt)).toBe(false)
  })
})
