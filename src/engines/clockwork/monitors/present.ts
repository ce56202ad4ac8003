import { isoOrNull, isoTime } from '../../../platform/clock.ts'
import type { Sealing } from '../../../platform/sealing/index.ts'
import type { Monitor, Ping } from './model.ts'
import { monitorToken } from './sealed.ts'
import { downAt } from './states.ts'
import type { MonitorRow, PingRow } from './store.ts'

/** With the ping URL, whose token is sealed. Those who can only read don't get it. */
export const createPresent =
  ({ sealing, baseUrl }: { sealing: Sealing; baseUrl: () => string }) =>
  (row: MonitorRow, { isReadOnly = false }: { isReadOnly?: boolean } = {}): Monitor => ({
    id: row.id,
    tenant_id: row.tenantId,
    name: row.name,
    tags: JSON.parse(row.tags),
    notes: row.notes,
    period_seconds: row.periodSeconds,
    schedule: row.schedule,
    time_zone: row.timeZone,
    grace_seconds: row.graceSeconds,
    state: row.state,
    state_since: isoTime(row.stateSince),
    started_at: isoOrNull(row.startedAt),
    last_ping_at: isoOrNull(row.lastPingAt),
    last_duration_ms: row.lastDurationMs,
    expected_at: isoOrNull(row.expectedAt),
    down_at: row.dueAt === null ? null : isoTime(downAt(row)),
    ping_url: isReadOnly ? null : `${baseUrl()}/ping/${openToken(sealing, row)}`,
    badge_url: `${baseUrl()}/badge/${row.badgeToken}.svg`,
    created_at: isoTime(row.createdAt),
    updated_at: isoTime(row.updatedAt),
  })

const openToken = (sealing: Sealing, { id, token }: MonitorRow): string =>
  sealing.open(monitorToken.purpose, monitorToken.boundTo({ id }), token)

export const presentPing = (row: PingRow): Ping => ({
  number: row.number,
  signal: row.signal,
  exit_code: row.exitCode,
  run_id: row.rid,
  received_at: isoTime(row.receivedAt),
  duration_ms: row.durationMs,
  body: row.body,
  ip_address: row.address,
})
