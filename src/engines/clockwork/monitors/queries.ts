import type { State } from './states.ts'
import type { MonitorRow, Store, TransitionRow } from './store.ts'

export type { TransitionRow } from './store.ts'

/** A monitor as lists show it, without its ping URL. */
export interface MonitorSummary {
  id: string
  name: string
  tags: string[]
  state: State
  stateSince: number
  period_seconds: number | null
  schedule: string | null
  time_zone: string
  grace_seconds: number
  startedAt: number | null
  lastPingAt: number | null
  expectedAt: number | null
}

/** Queries for pages about monitors. A tenant has few enough to read them all. */
export const createQueries = (store: Store) => {
  const list = (tenantId: string): MonitorSummary[] => store.monitors.list(tenantId).map(summaryOf)

  return {
    /** Newest first. */
    list,

    /** Monitors that are down, the latest first. */
    down: (tenantId: string): MonitorSummary[] =>
      list(tenantId)
        .filter(({ state }) => state === 'down')
        .toSorted((one, other) => other.stateSince - one.stateSince),

    /** Changes of state after a moment, oldest first. */
    transitions: (tenantId: string, id: string, since: number): TransitionRow[] =>
      store.transitions.since(tenantId, id, since),
  }
}

const summaryOf = (row: MonitorRow): MonitorSummary => ({
  id: row.id,
  name: row.name,
  tags: JSON.parse(row.tags),
  state: row.state,
  stateSince: row.stateSince,
  period_seconds: row.periodSeconds,
  schedule: row.schedule,
  time_zone: row.timeZone,
  grace_seconds: row.graceSeconds,
  startedAt: row.startedAt,
  lastPingAt: row.lastPingAt,
  expectedAt: row.expectedAt,
})
