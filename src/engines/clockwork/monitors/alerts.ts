import type { Alerts } from '../../../platform/alerts/index.ts'
import { utcMinute } from '../../../platform/time-zone.ts'
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
  monitor: MonitorRow,
  from: State,
  to: State,
) {
  const { tenantId, id, name } = monitor
  const key = { tenantId, kind: 'monitor.down', subject: subjectOf(id) } as const
  if (to === 'down') {
    alerts.open({ ...key, name, text: reasonOf(monitor), path: `/monitors/${id}` })
  } else if (from === 'down') {
    if (to === 'up') alerts.resolve(key)
    else alerts.close(tenantId, key.subject)
  }
}

/** Why a monitor is down. A ping that reported a failure arrived when the monitor went down. */
function reasonOf({ lastPingAt, stateSince, startedAt, schedule, timeZone }: MonitorRow): string {
  if (schedule !== null && !readableSchedule(schedule, timeZone))
    return `This version of Gatehouse can't read its schedule ${schedule} in ${timeZone}.`
  if (lastPingAt === stateSince) return 'A ping reported a failure.'
  if (startedAt !== null) return `The run that started at ${utcMinute(startedAt)} has not ended.`
  if (lastPingAt === null) return 'No ping has arrived.'
  return `No ping has arrived since ${utcMinute(lastPingAt)}.`
}
