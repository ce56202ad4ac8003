import type { Caller } from '../../platform/caller.ts'
import { createCursor, type Page, page } from '../../platform/cursor.ts'
import { fail, notFound } from '../../platform/errors.ts'
import { builtInNames, builtInType } from './built-in-types.ts'
import type { EventTypeSeen } from './model/event-types.ts'
import { presentBuiltIn, presentEventType, presentEventTypeDetail } from './present.ts'
import type { EventTypeRow, SeenType } from './store/event-types.ts'
import type { Store } from './store/index.ts'
import { environmentOf, ownList } from './stream.ts'

export type EventTypes = ReturnType<typeof createEventTypes>
export type EventTypeView = ReturnType<EventTypes['get']>

interface EventTypesQuery {
  limit: number
  cursor?: string | undefined
  /** Only names that begin with this. */
  prefix?: string | undefined
  by?: 'name' | 'last_seen'
  isDescending?: boolean
}

/** The event types that were seen and the shape of their payloads. */
export function createEventTypes({ store }: { store: Store }) {
  /** Ordered by name, or by when they were last seen. */
  const list = (caller: Caller, query: EventTypesQuery): Page<EventTypeSeen> =>
    query.by === 'last_seen' ? listByTime(caller, query) : listByName(caller, query)

  function listByName(caller: Caller, query: EventTypesQuery) {
    const { limit, cursor, isDescending = false } = query
    const cursors = createCursor(listOf(caller, query), 'string')
    const after = cursors.positionOf(cursor)
    const range = { after, isDescending, limit: limit + 1 }
    const rows = store.eventTypes.list(selection(caller, query), range)
    return shown(page(rows, limit, ({ name }) => cursors.encode(name)))
  }

  /** Sorted in memory: their number is limited, and an index would change with each message. */
  function listByTime(caller: Caller, query: EventTypesQuery) {
    const { limit, cursor, isDescending = false } = query
    const cursors = createCursor(`${listOf(caller, query)} by time`, ['number', 'string'])
    const [lastSeenAt, after] = cursors.positionOf(cursor) ?? []
    const of = selection(caller, query)
    const direction = isDescending ? -1 : 1
    const compare = (one: SeenType, other: SeenType) =>
      direction * (one.lastSeenAt - other.lastSeenAt || (one.name < other.name ? -1 : 1))
    const found = store.eventTypes
      .times(of)
      .filter(
        (one) =>
          lastSeenAt === undefined ||
          after === undefined ||
          (one.name !== after && compare(one, { lastSeenAt, name: after }) > 0),
      )
      .toSorted(compare)
      .slice(0, limit + 1)
    const rows = found.flatMap(({ name }) => store.eventTypes.find({ ...of, name }) ?? [])
    return shown(page(rows, limit, (last) => cursors.encode([last.lastSeenAt, last.name])))
  }

  const listOf = (caller: Caller, { isDescending }: EventTypesQuery) =>
    ownList(caller, `event types${isDescending ? ' down' : ''}`)

  const selection = (caller: Caller, { prefix }: EventTypesQuery) => ({
    tenantId: caller.tenantId,
    environment: environmentOf(caller),
    prefix,
  })

  const shown = (found: Page<EventTypeRow>): Page<EventTypeSeen> => ({
    ...found,
    data: found.data.map(presentEventType),
  })

  /** The names of the first `limit` types and of the built-in ones, for a selection list. */
  function names(caller: Caller, limit: number): string[] {
    const environment = environmentOf(caller)
    const seen = store.eventTypes.names(caller.tenantId, environment, limit)
    return [...new Set([...seen, ...builtInNames(environment)])].toSorted()
  }

  /** One event type, with the sample exactly as sent. */
  function get(caller: Caller, name: string) {
    const environment = environmentOf(caller)
    const found = store.eventTypes.find({ tenantId: caller.tenantId, environment, name })
    const builtIn = builtInType(environment, name)
    if (builtIn)
      return {
        detail: presentBuiltIn(name, builtIn, found),
        description: builtIn.description,
        sample: JSON.stringify(builtIn.example),
      }
    const row = found ?? fail(notFound('event type not found'))
    return { detail: presentEventTypeDetail(row), description: undefined, sample: row.sample }
  }

  /** All built-in types, seen or not. */
  const builtIn = (caller: Caller) =>
    builtInNames(environmentOf(caller)).map((name) => get(caller, name))

  return { list, names, builtIn, get }
}
