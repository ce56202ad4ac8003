import { Elysia } from 'elysia'
import { EventTypePage } from '../../../../views/console/pages/relay/event-type.tsx'
import { EventTypesPage } from '../../../../views/console/pages/relay/event-types.tsx'
import { crumbTo } from '../../layout.ts'
import type { RelayContext } from './context.ts'
import type { RelayParts } from './parts.ts'

const ON_A_PAGE = 50

/** Event types with their payload schemas. */
export function eventTypePages(parts: RelayParts) {
  const { middleware, layout, clock, baseUrl, contextOf } = parts
  const { eventTypes } = parts.relay

  function list({ request, operator, caller, query, position }: RelayContext): Response {
    const prefix = query.q?.trim() ?? ''
    return layout.page({
      request,
      operator,
      title: 'Event types',
      active: 'eventTypes',
      hasEnvironments: true,
      children: EventTypesPage({
        base: layout.base(),
        apiUrl: baseUrl(),
        page: eventTypes.list(caller, { limit: ON_A_PAGE, cursor: position.cursor, prefix }),
        prefix,
        position,
        now: clock.now(),
      }),
    })
  }

  function show({ request, operator, caller, id, mayChange }: RelayContext): Response {
    const { detail, sample } = eventTypes.get(caller, id)
    return layout.page({
      request,
      operator,
      title: detail.name,
      active: 'eventTypes',
      above: [crumbTo(layout.base(), 'eventTypes')],
      hasEnvironments: true,
      children: EventTypePage({ base: layout.base(), detail, sample, mayChange, now: clock.now() }),
    })
  }

  return new Elysia({ prefix: '/console/event-types', detail: { hide: true } })
    .use(middleware)
    .get('', (context) => list(contextOf(context)), { right: 'read' })
    .get('/:id', (context) => show(contextOf(context)), { right: 'read' })
}
