import type { Portable } from '../../platform/portable/table.ts'

/** Endpoints are exported with the delivery layer. Everything else is derived from past events. */
export const portable: Portable = {
  tables: [],
  leftOut: {
    relay_idempotency_keys: 'belong to messages, which are not exported',
    relay_event_types: 'learned again from new events',
  },
}
