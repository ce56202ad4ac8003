import type { Db } from '../../../db/open.ts'
import { createEventTypeStore } from './event-types.ts'
import { createIdempotencyStore } from './idempotency.ts'

export type Store = ReturnType<typeof createStore>

/** All SQL of the engine. Messages and deliveries are stored by src/delivery. */
export const createStore = (db: Db) => ({
  idempotency: createIdempotencyStore(db),
  eventTypes: createEventTypeStore(db),
})
