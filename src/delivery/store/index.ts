import type { Db } from '../../db/open.ts'
import { createAttemptStore } from './attempts.ts'
import { createDeliveryStore } from './deliveries.ts'
import { createEndpointLookStore } from './endpoint-looks.ts'
import { createEndpointStore } from './endpoints.ts'
import { createFanOutStore } from './fan-out.ts'
import { createGlanceStore } from './glances.ts'
import { createHealthStore } from './health.ts'
import { createHoldingStore } from './holding.ts'
import { createHourStore } from './hours.ts'
import { createLineStore } from './line.ts'
import { createMessageStore } from './messages.ts'

export type Store = ReturnType<typeof createStore>

/** All SQL of the delivery layer. */
export const createStore = (db: Db) => ({
  messages: createMessageStore(db),
  endpoints: createEndpointStore(db),
  health: createHealthStore(db),
  deliveries: createDeliveryStore(db),
  line: createLineStore(db),
  holding: createHoldingStore(db),
  attempts: createAttemptStore(db),
  hours: createHourStore(db),
  glances: createGlanceStore(db),
  endpointLooks: createEndpointLookStore(db),
  fanOut: createFanOutStore(db),
})
