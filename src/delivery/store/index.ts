import type { Db } from '../../db/open.ts'
import { createAttemptStore } from './attempts.ts'
import { createDeliveryStore } from './deliveries.ts'
import { createEndpointSummaries } from './endpoint-summaries.ts'
import { createEndpointStore } from './endpoints.ts'
import { createFanOutStore } from './fan-out.ts'
import { createHealthStore } from './health.ts'
import { createHoldingStore } from './holding.ts'
import { createHourStore } from './hours.ts'
import { createMessageStore } from './messages.ts'
import { createQueueStore } from './queue.ts'
import { createReadModel } from './read-model.ts'

export type Store = ReturnType<typeof createStore>

/** All SQL of the delivery layer. */
export const createStore = (db: Db) => ({
  messages: createMessageStore(db),
  endpoints: createEndpointStore(db),
  health: createHealthStore(db),
  deliveries: createDeliveryStore(db),
  queue: createQueueStore(db),
  holding: createHoldingStore(db),
  attempts: createAttemptStore(db),
  hours: createHourStore(db),
  readModel: createReadModel(db),
  endpointSummaries: createEndpointSummaries(db),
  fanOut: createFanOutStore(db),
})
