import type { Portable } from '../../platform/portable/table.ts'

/** Endpoints move with deliveries; what else there is came out of the events of the past. */
export const portable: Portable = {
  tables: [],
  leftOut: {
    relay_idempotency_keys: 'of messages, which stay behind',
    relay_event_types: 'learnt anew from the events that come',
  },
}
