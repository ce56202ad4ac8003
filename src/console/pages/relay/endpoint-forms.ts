import { Elysia } from 'elysia'
import type { FormError } from '../../../../views/console/form/error-summary.tsx'
import {
  CreatedEndpointPage,
  EndpointForm,
} from '../../../../views/console/pages/relay/endpoint-form.tsx'
import type { Endpoint } from '../../../engines/relay/model/endpoints.ts'
import type { Fields } from '../../../http/body.ts'
import { errorAt, submitted } from '../../form.ts'
import { crumbTo } from '../../frame.ts'
import { endpointCrumb } from './endpoint-crumb.ts'
import { changeIn, fieldsOf, newEndpointIn } from './fields.ts'
import type { RelayParts } from './parts.ts'
import type { RelayVisit } from './visit.ts'

const FIELDS = {
  url: 'url',
  description: 'description',
  event_types: 'event_types',
  channels: 'channels',
  format: 'format',
  headers: 'headers',
  secret: 'secret',
}

/** Forms to create and edit endpoints. */
export function endpointForms(parts: RelayParts) {
  const { kit, frames, visited } = parts
  const { endpoints } = parts.relay

  function form(
    { request, visitor }: RelayVisit,
    of: { endpoint?: Endpoint; typed?: Fields; errors?: readonly FormError[] } = {},
  ): Response {
    const { endpoint } = of
    const base = frames.base()
    return frames.page({
      request,
      visitor,
      title: endpoint ? 'Edit endpoint' : 'New endpoint',
      active: 'endpoints',
      above: [crumbTo(base, 'endpoints'), ...(endpoint ? [endpointCrumb(base, endpoint)] : [])],
      status: of.errors ? 422 : 200,
      hasEnvironments: true,
      children: EndpointForm({
        base,
        endpoint,
        typed: of.typed ?? (endpoint && fieldsOf(endpoint)),
        errors: of.errors,
        errorAt: (name) => errorAt(of.errors, name),
      }),
    })
  }

  /** Links can preselect the event types. */
  const blank = (visit: RelayVisit): Response =>
    form(visit, { typed: { event_types: visit.query.event_types ?? '' } })

  async function create(visit: RelayVisit): Promise<Response> {
    const { request, visitor, caller, body } = visit
    const { value, errors } = await submitted(
      async () => endpoints.create(caller, newEndpointIn(body)),
      FIELDS,
    )
    if (!value) return form(visit, { typed: body, errors })
    return frames.page({
      request,
      visitor,
      title: 'New endpoint',
      active: 'endpoints',
      above: [crumbTo(frames.base(), 'endpoints')],
      hasEnvironments: true,
      children: CreatedEndpointPage({ base: frames.base(), endpoint: value }),
    })
  }

  const edit = (visit: RelayVisit): Response =>
    form(visit, { endpoint: endpoints.get(visit.caller, visit.id) })

  async function save(visit: RelayVisit): Promise<Response> {
    const { caller, id, body } = visit
    const endpoint = endpoints.get(caller, id)
    const { value, errors } = await submitted(
      async () => endpoints.update(caller, id, changeIn(body)),
      FIELDS,
    )
    if (!value) return form(visit, { endpoint, typed: body, errors })
    return frames.go(`/console/endpoints/${id}?done=saved`)
  }

  return new Elysia({ prefix: '/console/endpoints', detail: { hide: true } })
    .use(kit)
    .get('/new', (visit) => blank(visited(visit)), { right: 'change' })
    .post('', (visit) => create(visited(visit)), { right: 'change' })
    .get('/:id/edit', (visit) => edit(visited(visit)), { right: 'change' })
    .post('/:id', (visit) => save(visited(visit)), { right: 'change' })
}
