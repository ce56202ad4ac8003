import { Elysia } from 'elysia'
import { EventTypePage } from '../../../../views/console/pages/relay/event-type.tsx'
import { EventTypesPage } from '../../../../views/console/pages/relay/event-types.tsx'
import { crumbTo } from '../../frame.ts'
import type { RelayParts } from './parts.ts'
import type { RelayVisit } from './visit.ts'

const ON_A_PAGE = 50

/** Event types with their payload schemas. */
export function eventTypePages(parts: RelayParts) {
  const { kit, frames, clock, baseUrl, visited } = parts
  const { eventTypes } = parts.relay

  function list({ request, visitor, caller, query, place }: RelayVisit): Response {
    const prefix = query.q?.trim() ?? ''
    return frames.page({
      request,
      visitor,
      title: 'Event types',
      active: 'eventTypes',
      hasEnvironments: true,
      children: EventTypesPage({
        base: frames.base(),
        apiUrl: baseUrl(),
        page: eventTypes.list(caller, { limit: ON_A_PAGE, cursor: place.cursor, prefix }),
        prefix,
        place,
        now: clock.now(),
      }),
    })
  }

  function show({ request, visitor, caller, id, mayChange }: RelayVisit): Response {
    const { detail, sample } = eventTypes.get(caller, id)
    return frames.page({
      request,
      visitor,
      title: detail.name,
      active: 'eventTypes',
      above: [crumbTo(frames.base(), 'eventTypes')],
      hasEnvironments: true,
      children: EventTypePage({ base: frames.base(), detail, sample, mayChange, now: clock.now() }),
    })
  }

  return new Elysia({ prefix: '/console/event-types', detail: { hide: true } })
    .use(kit)
    .get('', (visit) => list(visited(visit)), { right: 'read' })
    .get('/:id', (visit) => show(visited(visit)), { right: 'read' })
}
