import { firstMatch } from './occurrences.ts'
import { EVERY_HOUR, type Rule } from './rule.ts'
import type { Zone } from './zone.ts'

/**
 * At or after `minute`, in minutes since 1970 UTC. A schedule runs when clocks first show its time, or
 * have passed it because they skip it: once if they show it twice. One for every hour runs whenever
 * clocks show its time, as in cronie, because it would otherwise pause for an hour.
 */
export const firstMatchIn = (zone: Zone, rule: Rule, minute: number): number =>
  rule.hours === EVERY_HOUR
    ? firstShown(zone, rule, minute)
    : zone.momentOf(firstMatch(rule, zone.unreachedAfter(minute - 1)))

function firstShown({ periodAt }: Zone, rule: Rule, minute: number): number {
  let at = minute
  for (;;) {
    const { end, offset } = periodAt(at)
    const match = firstMatch(rule, at + offset) - offset
    if (match < end) return match
    at = end
  }
}
