import { MINUTE_MS } from '../../../platform/durations.ts'
import { UTC } from '../../../platform/time-zone.ts'
import { parseRule } from './expression.ts'
import { firstMatch } from './occurrences.ts'
import { zoneOf } from './zone.ts'
import { firstMatchIn } from './zoned-occurrences.ts'

/** The times of a cron job, in milliseconds since the epoch, from the year 1 on. */
export interface Schedule {
  /** The first slot strictly after `afterMs`; undefined after the year 9999. */
  next(afterMs: number): number | undefined
  /** The first `count` slots strictly after `afterMs`; fewer at the end of the year 9999. */
  nextMany(afterMs: number, count: number): number[]
}

/** 9999-12-31T23:59Z, the last minute whose year has four digits in ISO 8601. */
const LAST_SLOT_MS = 253_402_300_740_000

/** Counting stops here, because after an outage the exact number no longer matters. */
const MAX_COUNTED = 1000

/** Throws `invalid` with a sentence for the user if the expression breaks a rule. */
export function parseSchedule(expression: string, timeZone = UTC): Schedule {
  const rule = parseRule(expression)
  const zone = timeZone === UTC ? undefined : zoneOf(timeZone)
  const first = (minute: number) =>
    zone ? firstMatchIn(zone, rule, minute) : firstMatch(rule, minute)
  const next = (afterMs: number) => slotAfter(first, afterMs)
  return { next, nextMany: (afterMs, count) => slotsAfter(next, afterMs, count) }
}

/** The number of slots after `fromMs` and up to `toMs`, counted up to `cap`. */
export function countOccurrences(
  schedule: Schedule,
  fromMs: number,
  toMs: number,
  cap = MAX_COUNTED,
): number {
  let count = 0
  let slot = schedule.next(fromMs)
  while (count < cap && slot !== undefined && slot <= toMs) {
    count++
    slot = schedule.next(slot)
  }
  return count
}

function slotAfter(first: (minute: number) => number, afterMs: number): number | undefined {
  const slot = first(Math.floor(afterMs / MINUTE_MS) + 1) * MINUTE_MS
  return slot <= LAST_SLOT_MS ? slot : undefined
}

function slotsAfter(next: Schedule['next'], afterMs: number, count: number): number[] {
  const slots: number[] = []
  let slot = next(afterMs)
  while (slots.length < count && slot !== undefined) {
    slots.push(slot)
    slot = next(slot)
  }
  return slots
}
