import { MINUTE_MS } from '../../../platform/durations.ts'
import type { Instances } from '../../../platform/instances.ts'
import { afterOutage, afterTime } from './states.ts'
import type { Store } from './store.ts'
import type { Transitions } from './transitions.ts'

/** Monitors per transaction; each can send an event. */
const SLICE = 100
/** How often it is stored that the watch goes on. */
const BEAT_MS = MINUTE_MS
/** A longer silence is an outage, or the machine was asleep, or its clock was set forward. */
const OUTAGE_MS = 2 * BEAT_MS

export type Watch = ReturnType<typeof createWatch>

/**
 * Finds monitors whose time has passed. Reads only those that are due, by an index, and moves each
 * in the transaction that reads it, so that processes that watch together move it once.
 */
export function createWatch(parts: {
  store: Store
  transitions: Transitions
  instances: Pick<Instances, 'alive'>
}) {
  const { store, transitions, instances } = parts
  /** Whether this process has made up for the time in which none was running. */
  let hasBegun = false

  /** When to call `pass` next; undefined while no monitor waits for a ping. Only reads. */
  function nextDueAt(): number | undefined {
    const due = store.monitors.firstDueAt()
    if (due === undefined || !hasBegun) return due && 0
    return Math.min(due, (store.watch.watchedAt() ?? 0) + BEAT_MS)
  }

  /** Handles a slice of the monitors that are due; true if there may be more. Runs in a commit. */
  function pass(now: number): boolean {
    const due = store.monitors.due(now, SLICE)
    const outageMs = unwatchedFor(now)
    for (const monitor of due) {
      const standing = outageMs > 0 ? afterOutage(monitor, now, outageMs) : afterTime(monitor, now)
      store.monitors.move(transitions.moved(monitor, standing, now))
    }
    if (outageMs > 0 && due.length === SLICE) return true
    hasBegun = true
    if (store.monitors.firstDueAt() !== undefined) beat(now)
    return due.length === SLICE
  }

  /** 0 if a process has watched all along. What is stored is up to a minute old when one ends. */
  function unwatchedFor(now: number): number {
    const silence = now - (store.watch.watchedAt() ?? now)
    const isRestart = !hasBegun && silence > 0 && instances.alive().length === 1
    return isRestart || silence > OUTAGE_MS ? silence : 0
  }

  function beat(now: number) {
    const last = store.watch.watchedAt()
    if (last === undefined || now < last || now - last >= BEAT_MS) store.watch.setWatchedAt(now)
  }

  return { nextDueAt, pass }
}
