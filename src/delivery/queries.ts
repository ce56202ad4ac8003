import type { Store } from './store/index.ts'
import type { DeliveryQueue } from './store/rows.ts'

export type { ReplayRest } from './store/endpoint-summaries.ts'
export { STAGES, type Stage } from './store/fan-out.ts'
export { type Address, type FailingEndpoint, MAX_COUNTED } from './store/read-model.ts'

/** Queries for pages about deliveries. Each has a limit, so its cost does not grow with the data. */
export function createQueries({ readModel, queue }: Store) {
  const of = (name: DeliveryQueue, now: number) => ({
    readyCount: queue[name].readyCount(),
    lagMs: queue[name].lagMs(now),
  })
  return {
    ...readModel,
    /** Deliveries that are due, and how late the oldest is: first attempts, and repeated ones. */
    backlog: (now: number) => ({ first: of('first', now), again: of('again', now) }),
  }
}
