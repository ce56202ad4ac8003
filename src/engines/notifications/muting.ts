import type { Db } from '../../db/open.ts'
import type { AlertRow, Alerts } from '../../platform/alerts/index.ts'
import type { Actor, Audit } from '../../platform/audit/index.ts'
import type { Clock } from '../../platform/clock.ts'
import { DAY_MS, HOUR_MS, WEEK_MS } from '../../platform/durations.ts'
import { fail, notFound } from '../../platform/errors.ts'

/** How long an alert is muted; for any longer, until it is unmuted. */
export const MUTES = ['1h', '1d', '1w'] as const
export type Mute = (typeof MUTES)[number]

const DURATIONS: Record<Mute, number> = { '1h': HOUR_MS, '1d': DAY_MS, '1w': WEEK_MS }

/** Later than any time. */
export const UNTIL_UNMUTED = Number.MAX_SAFE_INTEGER

/** Mutes alerts of a tenant, or of the installation for null. */
export function createMuting(parts: { db: Db; clock: Clock; audit: Audit; alerts: Alerts }) {
  const { db, clock, audit, alerts } = parts

  const mute = (
    tenantId: string | null,
    actor: Actor,
    id: string,
    duration: Mute | undefined,
  ): Promise<AlertRow> => {
    const until = duration === undefined ? UNTIL_UNMUTED : clock.now() + DURATIONS[duration]
    return set(tenantId, actor, id, until, 'alert.muted')
  }

  const unmute = (tenantId: string | null, actor: Actor, id: string): Promise<AlertRow> =>
    set(tenantId, actor, id, null, 'alert.unmuted')

  function set(
    tenantId: string | null,
    actor: Actor,
    id: string,
    until: number | null,
    action: string,
  ): Promise<AlertRow> {
    return db.commitFor(tenantId ?? '', () => {
      const alert = alerts.mute(tenantId, id, until) ?? fail(notFound('alert not found'))
      const entry = { actor, action, object: `alert:${id}`, detail: { kind: alert.kind } }
      if (tenantId === null) audit.recordForOperators(entry)
      else audit.record({ tenantId, ...entry })
      return alert
    })
  }

  return { mute, unmute }
}
