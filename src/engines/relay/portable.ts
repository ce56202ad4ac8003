import type { Portable } from '../../platform/portable/table.ts'

/** Endpoints are exported with the delivery layer. Everything else is derived from past events. */
export const portable: Portable = {
  tables: [],
  leftOut: {
    relay_idempotency_keys: 'of messages, which stay behind',
    relay_event_types: 'learnt anew from the events that come',
  },
}
