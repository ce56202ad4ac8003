import { WORKER_VARIABLE } from '../config/environment.ts'
import type { Family } from '../platform/metrics/family.ts'
import type { Metrics } from '../platform/metrics/index.ts'
import type { PairState } from '../platform/replication/pair.ts'
import { fenceIn } from '../platform/shared-memory.ts'
import type { Siblings, Topic } from '../platform/siblings.ts'
import { inheritedMemory } from './memory.ts'
import type { FromWorker, Role, ToWorker } from './protocol.ts'

/** Longer than the supervisor waits for the other processes. */
const SCRAPE_MS = 2000

export type Worker = ReturnType<typeof joinSupervisor>

export type StopReason = { signal: string; withAll: boolean }

/** The role of this process; undefined unless a supervisor started it. */
export function roleIn(env: Readonly<Record<string, string | undefined>>): Role | undefined {
  const role = env[WORKER_VARIABLE]
  return role === undefined || !process.send ? undefined : (JSON.parse(role) as Role)
}

/** Connects this process to its supervisor and, through it, to its siblings. */
export function joinSupervisor({ number, count, port, startedMs, isFirst, generation }: Role) {
  const listeners = new Map<Topic, (about: string) => void>()
  const scrapes = new Map<number, (text: string) => void>()
  const memory = inheritedMemory(startedMs)
  let pair: PairState | undefined
  let families = (): Family[] => []
  let scrapeCount = 0
  const stopAsked = Promise.withResolvers<StopReason>()
  for (const signal of ['SIGTERM', 'SIGINT'])
    process.on(signal, () => stopAsked.resolve({ signal, withAll: true }))
  // Sent to a whole terminal; only the supervisor reloads.
  process.on('SIGHUP', () => {})
  process.on('disconnect', () => stopAsked.resolve({ signal: 'disconnect', withAll: true }))
  process.on('message', (message) => receive(message as ToWorker))

  function receive(message: ToWorker) {
    switch (message.is) {
      case 'told':
        return listeners.get(message.topic)?.(message.about)
      case 'stop':
        return stopAsked.resolve({ signal: 'SIGTERM', withAll: message.withAll })
      case 'end':
        return process.exit(1)
      case 'collect':
        return send({ is: 'families', families: families() })
      case 'pair':
        pair = message.state
        return
      case 'scraped':
        return scrapes.get(message.id)?.(message.text)
    }
  }

  /** Does nothing once the supervisor has died, because this process then ends soon. */
  function send(message: FromWorker) {
    if (process.connected) process.send?.(message)
  }

  function render(metrics: Metrics): Promise<string> {
    const id = ++scrapeCount
    const { promise, resolve } = Promise.withResolvers<string>()
    const late = setTimeout(() => resolve(metrics.render()), SCRAPE_MS)
    scrapes.set(id, resolve)
    send({ is: 'scrape', id, families: metrics.collect() })
    return promise.finally(() => {
      clearTimeout(late)
      scrapes.delete(id)
    })
  }

  const siblings: Siblings = {
    count,
    memory,
    tenure: generation === undefined ? undefined : { generation, fence: fenceIn(memory) },
    pair: () => pair,
    tell: (topic, about = '') => send({ is: 'told', topic, about }),
    on: (topic, listener) => void listeners.set(topic, listener),
    onScrape: (read) => {
      families = read
    },
    render,
  }

  /** Reports the last counts, which the sums of the server keep, and disconnects. */
  function leave() {
    process.removeAllListeners('disconnect')
    send({ is: 'families', families: families() })
    if (process.connected) process.disconnect?.()
  }

  return {
    number,
    port,
    isFirst,
    siblings,
    /** Resolves when this process has to end, by the supervisor or by a signal. */
    stopAsked: stopAsked.promise,
    ready: () => send({ is: 'ready' }),
    leave,
  }
}
