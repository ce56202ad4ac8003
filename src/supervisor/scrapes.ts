import type { Clock } from '../platform/clock.ts'
import { type Family, lasting, merged, textOf } from '../platform/metrics/family.ts'
import type { WorkerProcess } from './worker-process.ts'

/** How long a process may take; one that is later counts with what it reported before. */
const COLLECT_MS = 1000

/**
 * Adds up the metrics of all processes. Those that have ended keep counting, because a sum that goes
 * back would look like a restart, after which Prometheus counts everything again.
 */
export function createScrapes({ clock, workers }: { clock: Clock; workers: Set<WorkerProcess> }) {
  const waiting = new Map<WorkerProcess, (() => void)[]>()
  let ended: Family[] = []

  async function answer(asker: WorkerProcess, id: number) {
    const others = [...workers].filter((worker) => worker !== asker)
    await Promise.all(others.map(collected))
    const all = [asker, ...[...workers].filter((worker) => worker !== asker)]
    const text = textOf(merged([...all.map(({ families }) => families), ended]))
    asker.send({ is: 'scraped', id, text })
  }

  function collected(worker: WorkerProcess): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    waiting.set(worker, [...(waiting.get(worker) ?? []), resolve])
    const cancel = clock.after(COLLECT_MS, resolve)
    worker.send({ is: 'collect' })
    return promise.finally(cancel)
  }

  function settle(worker: WorkerProcess) {
    for (const resolve of waiting.get(worker) ?? []) resolve()
    waiting.delete(worker)
  }

  /** For a process that is no longer one of `workers`. */
  function end(worker: WorkerProcess) {
    ended = merged([ended, lasting(worker.families)])
    settle(worker)
  }

  return { answer, settle, end }
}
