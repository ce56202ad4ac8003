import { expect, test } from 'bun:test'
import { checkedTimeZone, momentIn, timeZones, wallTime } from '../../src/platform/time-zone.ts'

const BERLIN = 'Europe/Berlin'

test.each([
  ['UTC', '2026-11-22T14:05:09Z', '2026-11-22 14:05:09', 'UTC'],
  [BERLIN, '2026-11-22T23:30:00Z', '2026-11-23 00:30:00', 'GMT+1'],
  [BERLIN, '2026-07-01T00:00:00.999Z', '2026-07-01 02:00:00', 'GMT+2'],
  ['Asia/Kolkata', '2026-01-01T00:00:00Z', '2026-01-01 05:30:00', 'GMT+5:30'],
  ['America/New_York', '2026-01-01T00:00:00Z', '2025-12-31 19:00:00', 'GMT-5'],
])('In %s, %s is %s %s', (zone, at, text, offset) => {
  expect(wallTime(Date.parse(at), zone)).toEqual({ text, offset })
})

test.each([
  ['UTC', '2026-11-22T14:05', '2026-11-22T14:05:00.000Z'],
  [BERLIN, '2026-11-22T15:05:09.5', '2026-11-22T14:05:09.500Z'],
  ['America/New_York', '2026-11-22 15:05', '2026-11-22T20:05:00.000Z'],
  // Shown twice, and skipped.
  [BERLIN, '2026-10-25T02:30', '2026-10-25T00:30:00.000Z'],
  [BERLIN, '2026-10-25T03:30', '2026-10-25T02:30:00.000Z'],
  [BERLIN, '2026-03-29T02:30', '2026-03-29T01:30:00.000Z'],
  [BERLIN, '2026-03-29T03:00', '2026-03-29T01:00:00.000Z'],
  // The offset changes within a day before or after.
  [BERLIN, '2026-03-28T12:00', '2026-03-28T11:00:00.000Z'],
  [BERLIN, '2026-03-29T12:00', '2026-03-29T10:00:00.000Z'],
  // The day after has a year of five digits.
  [BERLIN, '9999-12-31T23:59', '9999-12-31T22:59:00.000Z'],
  ['Pacific/Kiritimati', '9999-12-30T00:00', '9999-12-29T10:00:00.000Z'],
])('Clocks in %s show %s at %s', (zone, wall, at) => {
  expect(new Date(momentIn(wall, zone)).toISOString()).toBe(at)
})

test('A text that is no time has no moment', () => {
  for (const text of ['', 'soon', '2026-13-01T00:00', '2026-01-01T25:00'])
    expect(momentIn(text, BERLIN)).toBeNaN()
})

test('A zone is a name in its usual spelling, not an offset', () => {
  expect(checkedTimeZone('europe/berlin')).toBe(BERLIN)
  expect(timeZones().map(checkedTimeZone)).toEqual([...timeZones()])
  for (const name of ['', 'Mars/Olympus', '+01:00', 'Europe/Berlin ', '../etc', '\u202e'])
    expect(() => checkedTimeZone(name)).toThrow('must be a time zone such as Europe/Berlin')
})
