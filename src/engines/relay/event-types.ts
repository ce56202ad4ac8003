import type { Caller } from '../../platform/caller.ts'
import { createCursor, type Page, page } from '../../platform/cursor.ts'
import { fail, notFound } from '../../platform/errors.ts'
import type { EventTypeSeen } from './model/event-types.ts'
import { presentEventType, presentEventTypeDetail } from './present.ts'
import type { Store } from './store/index.ts'
import { environmentOf, ownList } from './stream.ts'

export type EventTypes = ReturnType<typeof createEventTypes>

const cursorsOf = (caller: Caller) => createCursor(ownList(caller, 'event types'), 'string')

/** The event types that were seen, and what is known of their payloads. */
export function createEventTypes({ store }: { store: Store }) {
  /** By name; those that begin with `prefix`, if asked. */
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

  /** The first `limit` by name, to choose from. */
  const names = (caller: Caller, limit: number): string[] =>
    store.eventTypes.names(caller.tenantId, environmentOf(caller), limit)

  /** With the sample as it was spelled. */
  function get(caller: Caller, name: string) {
    const key = { tenantId: caller.tenantId, environment: environmentOf(caller), name }
    const row = store.eventTypes.find(key) ?? fail(notFound('event type not found'))
    return { detail: presentEventTypeDetail(row), sample: row.sample }
  }

  return { list, names, get }
}
