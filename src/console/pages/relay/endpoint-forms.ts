import { Elysia } from 'elysia'
import type { FormError } from '../../../../views/console/form/error-summary.tsx'
import {
  CreatedEndpointPage,
  EndpointForm,
} from '../../../../views/console/pages/relay/endpoint-form.tsx'
import type { Endpoint } from '../../../engines/relay/model/endpoints.ts'
import type { Fields } from '../../../http/body.ts'
import { submitted } from '../../form.ts'
import { crumbTo } from '../../layout.ts'
import type { RelayContext } from './context.ts'
import { endpointCrumb } from './endpoint-crumb.ts'
import { changeIn, fieldsOf, newEndpointIn } from './fields.ts'
import type { RelayParts } from './parts.ts'

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
  const { middleware, layout, contextOf } = parts
  const { endpoints } = parts.relay

  function form(
    { request, operator }: RelayContext,
    of: { endpoint?: Endpoint; values?: Fields; errors?: readonly FormError[] } = {},
  ): Response {
    const { endpoint } = of
    const base = layout.base()
    return layout.page({
      request,
      operator,
      title: endpoint ? 'Edit endpoint' : 'New endpoint',
      active: 'endpoints',
      above: [crumbTo(base, 'endpoints'), ...(endpoint ? [endpointCrumb(base, endpoint)] : [])],
      status: of.errors ? 422 : 200,
      hasEnvironments: true,
      children: EndpointForm({
        base,
        endpoint,
        values: of.values ?? (endpoint && fieldsOf(endpoint)),
        errors: of.errors,
      }),
    })
  }

  /** Links can preselect the event types. */
  const blank = (context: RelayContext): Response =>
    form(context, { values: { event_types: context.query.event_types ?? '' } })

  async function create(context: RelayContext): Promise<Response> {
    const { request, operator, caller, body } = context
    const { value, errors } = await submitted(
      async () => endpoints.create(caller, newEndpointIn(body)),
      FIELDS,
    )
    if (!value) return form(context, { values: body, errors })
    return layout.page({
      request,
      operator,
      title: 'New endpoint',
      active: 'endpoints',
      above: [crumbTo(layout.base(), 'endpoints')],
      hasEnvironments: true,
      children: CreatedEndpointPage({ base: layout.base(), endpoint: value }),
    })
  }

  const edit = (context: RelayContext): Response =>
    form(context, { endpoint: endpoints.get(context.caller, context.id) })

  async function save(context: RelayContext): Promise<Response> {
    const { caller, id, body } = context
    const endpoint = endpoints.get(caller, id)
    const { value, errors } = await submitted(
      async () => endpoints.update(caller, id, changeIn(body)),
      FIELDS,
    )
    if (!value) return form(context, { endpoint, values: body, errors })
    return layout.go(`/console/endpoints/${id}?done=saved`)
  }

  return new Elysia({ prefix: '/console/endpoints', detail: { hide: true } })
    .use(middleware)
    .get('/new', (context) => blank(contextOf(context)), { right: 'change' })
    .post('', (context) => create(contextOf(context)), { right: 'change' })
    .get('/:id/edit', (context) => edit(contextOf(context)), { right: 'change' })
    .post('/:id', (context) => save(contextOf(context)), { right: 'change' })
}
