import { Elysia } from 'elysia'
import type { Access } from '../../../http/access.ts'
import { PageOf, pageQuery } from '../../../http/paging.ts'
import { jsonWith } from '../../../http/raw-json.ts'
import { CodedErrors, refusalsIn } from '../../../http/responses.ts'
import type { EventTypes } from '../event-types.ts'
import { EventTypeDetail, EventTypeSeen } from '../model/event-types.ts'
import { EventType } from '../model/fields.ts'
import { reads } from './scopes.ts'

const { refused } = refusalsIn(CodedErrors)

const NAME = { name: 'name', in: 'path', required: true, schema: EventType } as const

export function eventTypeRoutes({
  eventTypes,
  access,
}: {
  eventTypes: EventTypes
  access: Access
}) {
  return new Elysia({ prefix: '/event-types', tags: ['relay'] })
    .use(access)
    .get('', ({ caller, query }) => eventTypes.list(caller, query), {
      scope: reads,
      detail: { summary: 'List event types', description: 'Sorted by name.' },
      query: pageQuery({}),
      response: { 200: PageOf(EventTypeSeen), ...refused },
    })
    .get(
      '/:name',
      ({ caller, params }) => {
        const { detail, sample } = eventTypes.get(caller, params.name)
        return jsonWith(detail, 'sample', sample ?? 'null')
      },
      {
        scope: reads,
        detail: {
          summary: 'Get an event type',
          description: 'Includes a sample, the JSON Schema of its payloads, and schema changes.',
          parameters: [NAME],
        },
        response: { 200: EventTypeDetail, ...refused, 404: CodedErrors[404] },
      },
    )
}
