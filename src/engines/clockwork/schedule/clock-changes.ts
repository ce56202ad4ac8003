import { DAY_MS, MINUTE_MS } from '../../../platform/durations.ts'
import { UTC } from '../../../platform/time-zone.ts'
import { parseRule } from './expression.ts'
import { firstMatch } from './occurrences.ts'
import { EVERY_HOUR } from './rule.ts'
import { zoneOf } from './zone.ts'

/** Includes each yearly change at least once. */
const AHEAD = (400 * DAY_MS) / MINUTE_MS

/** The next times of a schedule that clocks skip and that they show twice, a sentence for each. */
export function clockChangeWarnings(expression: string, timeZone: string, now: number): string[] {
  const rule = parseRule(expression)
  if (timeZone === UTC || rule.hours === EVERY_HOUR) return []
  const warnings = new Map<'skip' | 'twice', string>()
  for (const { at, before, after } of changesAfter(timeZone, Math.floor(now / MINUTE_MS))) {
    const [from, to] = before < after ? [at + before, at + after] : [at + after, at + before]
    const kind = before < after ? 'skip' : 'twice'
    if (warnings.has(kind) || firstMatch(rule, from) >= to) continue
    const when = `${timeOf(from)} to ${timeOf(to)} on ${dateOf(from)}`
    warnings.set(
      kind,
      kind === 'skip'
        ? `clocks in ${timeZone} skip ${when}; times in between run once, at ${timeOf(to)}`
        : `clocks in ${timeZone} show ${when} twice; times in between run only the first time`,
    )
  }
  return [...warnings.values()]
}

function* changesAfter(timeZone: string, now: number) {
  const { periodAt } = zoneOf(timeZone)
  for (let period = periodAt(now); period.end <= now + AHEAD; ) {
    const next = periodAt(period.end)
    if (next.offset !== period.offset)
      yield { at: period.end, before: period.offset, after: next.offset }
    period = next
  }
}

const textOf = (wall: number) => new Date(wall * MINUTE_MS).toISOString()
const timeOf = (wall: number) => textOf(wall).slice(11, 16)
const dateOf = (wall: number) => textOf(wall).slice(0, 10)
