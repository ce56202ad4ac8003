import type { Alerts } from '../../../platform/alerts/index.ts'
import { alertOf } from './alerts.ts'
import type { State } from './states.ts'
import type { MonitorRow, Store } from './store.ts'

/** Called in the commit that changes the state of a monitor; what it stores is part of it. */
export type OnTransition = (monitor: MonitorRow, from: State, to: State, now: number) => void

export type Transitions = ReturnType<typeof createTransitions>

/** Stores what a ping, the time or an operator does to a monitor, and reports a new state. */
export function createTransitions(parts: {
  store: Store
  alerts: Alerts
  onTransition: OnTransition
}) {
  const { store, alerts, onTransition } = parts

  /** Counts a new state; returns the row to store. */
  function moved(old: MonitorRow, changed: Partial<MonitorRow>, now: number): MonitorRow {
    const row = { ...old, ...changed }
    if (row.state === old.state) return row
    const { tenantId, id: monitorId, state: to } = row
    row.transitionCount++
    store.transitions.put({
      ...{ tenantId, monitorId, number: row.transitionCount },
      ...{ from: old.state, to, at: now },
    })
    alertOf(alerts, row, old.state, to)
    onTransition(row, old.state, to, now)
    return row
  }

  return { moved }
}
