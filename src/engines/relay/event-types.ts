import { createCursor, type Page, page } from '../../platform/cursor.ts'
import { fail, notFound } from '../../platform/errors.ts'
import type { Caller } from '../../platform/keys.ts'
import type { EventTypeSeen } from './model/event-types.ts'
import { presentEventType, presentEventTypeDetail } from './present.ts'
import type { Store } from './store/index.ts'
import { environmentOf, ownList } from './stream.ts'

export type EventTypes = ReturnType<typeof createEventTypes>

const cursorsOf = (caller: Caller) => createCursor(ownList(caller, 'event types'), 'string')

/** The event types that were seen, and what is known of their payloads. */
export function createEventTypes({ store }: { store: Store }) {
  /** By name. */
  function list(
    caller: Caller,
    { limit, cursor }: { limit: number; cursor?: string | undefined },
  ): Page<EventTypeSeen> {
    const after = cursorsOf(caller).positionOf(cursor)
    const rows = store.eventTypes.list(caller.tenantId, environmentOf(caller), {
      after,
      limit: limit + 1,
    })
    const listed = page(rows, limit, ({ name }) => cursorsOf(caller).encode(name))
    return { ...listed, data: listed.data.map(presentEventType) }
  }

  /** With the sample as it was spelled. */
  function get(caller: Caller, name: string) {
    const key = { tenantId: caller.tenantId, environment: environmentOf(caller), name }
    const row = store.eventTypes.find(key) ?? fail(notFound('event type not found'))
    return { detail: presentEventTypeDetail(row), sample: row.sample }
  }

  return { list, get }
}
