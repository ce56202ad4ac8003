import type { Caller } from '../../platform/caller.ts'
import { createCursor, type Page, page } from '../../platform/cursor.ts'
import { fail, notFound } from '../../platform/errors.ts'
import type { EventTypeSeen } from './model/event-types.ts'
import { presentEventType, presentEventTypeDetail } from './present.ts'
import type { Store } from './store/index.ts'
import { environmentOf, ownList } from './stream.ts'

export type EventTypes = ReturnType<typeof createEventTypes>

const cursorsOf = (caller: Caller) => createCursor(ownList(caller, 'event types'), 'string')

/** The event types that were seen and the shape of their payloads. */
export function createEventTypes({ store }: { store: Store }) {
  /** Ordered by name; optionally only names that begin with `prefix`. */
  function list(
    caller: Caller,
    {
      limit,
      cursor,
      prefix,
    }: { limit: number; cursor?: string | undefined; prefix?: string | undefined },
  ): Page<EventTypeSeen> {
    const after = cursorsOf(caller).positionOf(cursor)
    const rows = store.eventTypes.list(caller.tenantId, environmentOf(caller), {
      after,
      prefix,
      limit: limit + 1,
    })
    const listed = page(rows, limit, ({ name }) => cursorsOf(caller).encode(name))
    return { ...listed, data: listed.data.map(presentEventType) }
  }

  /** The names of the first `limit` types, for a selection list. */
  const names = (caller: Caller, limit: number): string[] =>
    store.eventTypes.names(caller.tenantId, environmentOf(caller), limit)

  /** One event type, with the sample exactly as sent. */
  function get(caller: Caller, name: string) {
    const key = { tenantId: caller.tenantId, environment: environmentOf(caller), name }
    const row = store.eventTypes.find(key) ?? fail(notFound('event type not found'))
    return { detail: presentEventTypeDetail(row), sample: row.sample }
  }

  return { list, names, get }
}
