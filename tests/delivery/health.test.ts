import { expect, test } from 'bun:test'
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

/** Open after this many failed trials. */
function trippedAgain(times: number): Health {
  let health = tripped()
  for (let n = 0; n < times; n++)
    health = afterFailure(halfOpen(health), health.openUntil as number, RULES)
  return health
}

test('The breaker opens for 30 seconds after five failures in a row', () => {
  expect(isOpen(failing(4))).toBe(false)
  expect(failing(4)).toMatchObject({ failures: 4, openUntil: null, window: null })
  expect(isOpen(failing(4, afterSuccess(failing(4))))).toBe(false)
  expect(isOpen(tripped())).toBe(true)
  expect(tripped()).toMatchObject({ openUntil: NOW + 30 * SECOND, trips: 1, window: 1 })
  expect(isOpen(afterFailure(HEALTHY, NOW, { breakerFailures: 1 }))).toBe(true)
})

test('Attempts from before it opened change nothing by failing, and close it by succeeding', () => {
  const late = failing(11, tripped(), NOW + 20 * SECOND)
  expect(late).toMatchObject({ openUntil: NOW + 30 * SECOND, trips: 1, failedAttempts: 16 })
  expect(afterSuccess(tripped())).toEqual({ ...HEALTHY, window: 1, trips: 1 })
})

test.each([
  [1, 60 * SECOND],
  [2, 2 * MINUTE],
  [4, 8 * MINUTE],
  [5, 10 * MINUTE],
  [2000, 10 * MINUTE],
])('After %i failed trials it opens for %i ms', (times, pause) => {
  const before = trippedAgain(times - 1).openUntil as number
  expect((trippedAgain(times).openUntil as number) - before).toBe(pause)
})

test('A half-open breaker allows one attempt, and twice as many after each success', () => {
  const trial = halfOpen(tripped())
  expect(trial).toMatchObject({ openUntil: null, window: 1 })
  const failed = afterFailure(trial, NOW, RULES)
  expect(isOpen(failed)).toBe(true)
  expect(failed).toMatchObject({ failures: 6, failedAttempts: 6 })
  const windows: (number | null)[] = []
  let health = halfOpen(trippedAgain(4))
  while (health.window !== null) {
    windows.push(health.window)
    health = afterSuccess(health)
  }
  expect(windows).toEqual([1, 2, 4, 8])
  expect(health).toEqual(HEALTHY)
  expect(tripped(health)).toMatchObject({ openUntil: NOW + 30 * SECOND, trips: 1 })
  expect(afterSuccess(HEALTHY)).toEqual(HEALTHY)
  // Failing again during that makes the next pause longer.
  const recovering = afterSuccess(afterSuccess(halfOpen(tripped())))
  const again = { openUntil: NOW + 60 * SECOND, trips: 2, window: 1 }
  expect(failing(5, recovering)).toMatchObject(again)
})

test('The first failure since the last success is remembered', () => {
  const health = afterFailure(failing(3), NOW + DAY, RULES)
  expect(health).toMatchObject({ failingSince: NOW, failedAttempts: 4 })
  expect(afterSuccess(health)).toMatchObject({ failingSince: null, failedAttempts: 0 })
})

const later = NOW + 6 * DAY
const lost: Health = { ...HEALTHY, failedAttempts: 20, failingSince: later - 12 * HOUR }
const good = later - 5 * DAY

test('An endpoint is disabled after 20 failures over 12 hours, 5 days after its last success', () => {
  for (const [health, lastGoodAt, isDisabled] of [
    [lost, good, true],
    [{ ...lost, failedAttempts: 19 }, good, false],
    [{ ...lost, failingSince: later - 12 * HOUR + 1 }, good, false],
    [lost, good + 1, false],
    [HEALTHY, good, false],
  ] as const)
    expect(isHopeless(health, later, () => lastGoodAt)).toBe(isDisabled)
})
