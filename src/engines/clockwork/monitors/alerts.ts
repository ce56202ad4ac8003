import type { Alerts } from '../../../platform/alerts/index.ts'
import { readableSchedule } from '../schedule/index.ts'
import type { State } from './states.ts'
import type { MonitorRow } from './store.ts'

/** Where an alert about a monitor points. */
export const subjectOf = (id: string): string => `monitor:${id}`

/**
 * Alerts about a monitor, within the commit that changes its state. It opens when no ping came in time
 * or a ping reported a failure, and resolves with the next success. Otherwise it closes unannounced.
 */
export function alertOf(
  alerts: Pick<Alerts, 'open' | 'resolve' | 'close'>,
  { tenantId, id, name, lastPingAt, schedule, timeZone }: MonitorRow,
  from: State,
  to: State,
) {
  const key = { tenantId, kind: 'monitor.down', subject: subjectOf(id) } as const
  if (to === 'down') {
    const isReadable = schedule === null || readableSchedule(schedule, timeZone)
    const text = !isReadable
      ? `This version of Gatehouse can't read its schedule ${schedule} in ${timeZone}.`
      : lastPingAt === null
        ? 'No ping has arrived.'
        : 'A ping reported a failure, or none came in time.'
    alerts.open({ ...key, name, text, path: `/monitors/${id}` })
  } else if (from === 'down') {
    if (to === 'up') alerts.resolve(key)
    else alerts.close(tenantId, key.subject)
  }
}
