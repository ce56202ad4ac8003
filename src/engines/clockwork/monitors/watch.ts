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
  instances: Pick<Instances, 'self' | 'list'>
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
    if (store.monitors.firstDueAt() !== undefined) beat(now)
    hasBegun = true
    return due.length === SLICE
  }

  /**
   * 0 if a process has watched all along. What is stored is up to a minute old when one ends. Nothing
   * is stored if it ended within seconds of the first ping of all.
   */
  function unwatchedFor(now: number): number {
    const watchedAt = store.watch.watchedAt() ?? 0
    const silence = now - watchedAt
    const isRestart = !hasBegun && silence > 0 && !hasWatcherSince(watchedAt)
    return isRestart || silence > OUTAGE_MS ? silence : 0
  }

  /** Whether another process runs that didn't start after `watchedAt`, as this one did. */
  const hasWatcherSince = (watchedAt: number): boolean =>
    instances.list().some(({ id, startedAt }) => id !== instances.self && startedAt <= watchedAt)

  /** The first time, this also ends the outage for processes that have started together. */
  function beat(now: number) {
    const last = store.watch.watchedAt()
    if (!hasBegun || last === undefined || now < last || now - last >= BEAT_MS)
      store.watch.setWatchedAt(now)
  }

  return { nextDueAt, pass }
}
