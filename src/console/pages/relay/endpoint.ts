import { Elysia } from 'elysia'
import type { FormError } from '../../../../views/console/form/error-summary.tsx'
import { EndpointPage } from '../../../../views/console/pages/relay/endpoint.tsx'
import { RotatedPage } from '../../../../views/console/pages/relay/endpoint-form.tsx'
import { withoutScheme } from '../../../../views/console/words.ts'
import type { Endpoint } from '../../../engines/relay/model/endpoints.ts'
import type { Fields } from '../../../http/body.ts'
import type { DeliveryDetail, TestResult } from '../../../http/delivery-log/model.ts'
import type { Caller } from '../../../platform/caller.ts'
import { invalid } from '../../../platform/errors.ts'
import { submitted, trimmedText } from '../../form.ts'
import { crumbTo } from '../../layout.ts'
import { maskSignatures } from '../mask-signatures.ts'
import type { RelayContext } from './context.ts'
import { endpointCrumb } from './endpoint-crumb.ts'
import { endpointFlash } from './endpoint-flashes.ts'
import { replayedIn } from './fields.ts'
import type { RelayParts } from './parts.ts'

const RECENT = 10

/** Seconds for which the old secret signs beside the new one. */
const GRACES = new Map([
  ['none', 0],
  ['hour', 3600],
  ['day', 86_400],
  ['week', 604_800],
])

/** One endpoint: state, test, rotation, pause, resume and deletion. */
export function endpointPage(parts: RelayParts) {
  const { middleware, layout, db, audit, clock, contextOf } = parts
  const { endpoints, endpointSummaries, deliveries } = parts.relay

  /** `test` is the result of a test event, which is not stored. */
  function show(
    context: RelayContext,
    of: { test?: TestResult; values?: Fields; errors?: readonly FormError[] } = {},
  ): Response {
    const { request, operator, caller, id, query, mayChange, mayDelete } = context
    const endpoint = endpoints.get(caller, id)
    const replayed = replayedIn(query)
    return layout.page({
      request,
      operator,
      title: withoutScheme(endpoint.url),
      active: 'endpoints',
      above: [crumbTo(layout.base(), 'endpoints')],
      flash: endpointFlash(query),
      status: of.errors ? 422 : 200,
      hasEnvironments: true,
      children: EndpointPage({
        base: layout.base(),
        endpoint,
        hours: endpointSummaries.dayOf(endpoint),
        waiting: endpointSummaries.waitingFor(endpoint),
        overlapEnd: endpoints.overlapEnd(caller, id),
        failed: failureAt(caller, endpoint),
        recent: deliveries.list(caller, { limit: RECENT, endpoint_id: id }).data,
        replay:
          replayed === undefined
            ? undefined
            : { count: replayed, rest: endpointSummaries.replayRest(caller, id) },
        ...of,
        isTest: caller.environment === 'test',
        mayChange,
        mayDelete,
        now: clock.now(),
      }),
    })
  }

  /** Delivery of the last failed attempt. */
  function failureAt(caller: Caller, endpoint: Endpoint): DeliveryDetail | undefined {
    if (endpoint.health.failing_since === null) return undefined
    const id = endpointSummaries.lastTriedAt(endpoint)
    if (id === undefined) return undefined
    const found = deliveries.get(caller, id)
    return caller.isReadOnly ? maskSignatures(found) : found
  }

  const gone = (id: string, done: string) => layout.go(`/console/endpoints/${id}?done=${done}`)

  async function test(context: RelayContext): Promise<Response> {
    const { caller, actor, tenant, id, body } = context
    endpoints.get(caller, id)
    const { value, errors } = await submitted(
      async () => {
        const type = trimmedText(body, 'event_type')
        const wanted = type === '' ? null : { event_type: type }
        const result = await endpoints.test(caller, id, wanted, undefined)
        const { tenantId } = tenant
        const object = `endpoint:${id}`
        await db.commitFor(tenantId, () =>
          audit.record({ tenantId, actor, action: 'endpoint.tested', object }),
        )
        return result
      },
      { event_type: 'event_type' },
    )
    return value
      ? show(context, { test: value, values: body })
      : show(context, { values: body, errors })
  }

  async function rotate({ request, operator, caller, id, body }: RelayContext): Promise<Response> {
    const endpoint = endpoints.get(caller, id)
    const grace = GRACES.get(trimmedText(body, 'grace'))
    if (grace === undefined)
      throw invalid('must be none, hour, day or week', { field: 'grace', rule: 'choice' })
    const { secret, previous_expires_at: until } = await endpoints.rotate(caller, id, {
      grace_seconds: grace,
    })
    const base = layout.base()
    return layout.page({
      request,
      operator,
      title: 'Secret rotated',
      active: 'endpoints',
      above: [crumbTo(base, 'endpoints'), endpointCrumb(base, endpoint)],
      hasEnvironments: true,
      children: RotatedPage({ base, endpoint, secret, until, now: clock.now() }),
    })
  }

  async function pause({ caller, id }: RelayContext): Promise<Response> {
    await endpoints.update(caller, id, { active: false })
    return gone(id, 'paused')
  }

  async function resume({ caller, id, body }: RelayContext): Promise<Response> {
    const held = trimmedText(body, 'held')
    if (held !== 'drain' && held !== 'discard')
      throw invalid('must be drain or discard', { field: 'held', rule: 'choice' })
    await endpoints.update(caller, id, { active: true, held })
    return gone(id, held === 'drain' ? 'resumed' : 'discarded')
  }

  async function remove({ caller, id }: RelayContext): Promise<Response> {
    await endpoints.remove(caller, id)
    return layout.go('/console/endpoints?done=deleted')
  }

  return new Elysia({ prefix: '/console/endpoints', detail: { hide: true } })
    .use(middleware)
    .get('/:id', (context) => show(contextOf(context)), { right: 'read' })
    .post('/:id/test', (context) => test(contextOf(context)), { right: 'change' })
    .post('/:id/rotate', (context) => rotate(contextOf(context)), { right: 'change' })
    .post('/:id/pause', (context) => pause(contextOf(context)), { right: 'change' })
    .post('/:id/resume', (context) => resume(contextOf(context)), { right: 'change' })
    .post('/:id/delete', (context) => remove(contextOf(context)), { right: 'delete' })
}
