import { isoOrNull, isoTime } from '../../../platform/clock.ts'
import type { State } from './states.ts'
import type { MonitorRow } from './store.ts'

/** The event that reports a transition to endpoints; undefined for those that are no event. */
export function eventOf(
  { id, name, tags, lastPingAt, lastDurationMs }: MonitorRow,
  from: State,
  to: State,
  now: number,
) {
  const type = to === 'down' ? 'monitor.down' : from === 'down' && to === 'up' && 'monitor.up'
  if (!type) return undefined
  const payload = {
    monitor_id: id,
    name,
    tags: JSON.parse(tags) as string[],
    state: to,
    previous_state: from,
    at: isoTime(now),
    last_ping_at: isoOrNull(lastPingAt),
    last_duration_ms: lastDurationMs,
  }
  return { type, payload }
}
