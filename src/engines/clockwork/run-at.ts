import { invalid } from '../../platform/errors.ts'
import { parseTimestamp } from '../../platform/timestamp.ts'

/** Milliseconds since the epoch. Throws `invalid` unless it is a valid time at or after `now`. */
export function parseRunAt(text: string, now: number): number {
  const ms = parseTimestamp(text, 'run_at')
  if (ms < now) throw invalid('must not be in the past', { field: 'run_at', rule: 'range' })
  return ms
}
