import { Elysia } from 'elysia'
import type { FormError } from '../../../../views/console/form/error-summary.tsx'
import { ReplayPage } from '../../../../views/console/pages/relay/replay.tsx'
import type { Fields } from '../../../http/body.ts'
import type { Caller } from '../../../platform/caller.ts'
import { isoTime } from '../../../platform/clock.ts'
import { DAY_MS } from '../../../platform/durations.ts'
import { submitted } from '../../form.ts'
import { crumbTo } from '../../layout.ts'
import type { RelayContext } from './context.ts'
import { endpointCrumb } from './endpoint-crumb.ts'
import { replayIn } from './fields.ts'
import type { RelayParts } from './parts.ts'

const FIELDS = { since: 'since', until: 'until', which: 'which', per_second: 'per_second' }

/** Replays past messages to an endpoint, whose page shows the progress. */
export function replayPages(parts: RelayParts) {
  const { middleware, layout, clock, contextOf } = parts
  const { endpoints } = parts.relay

  /** Counts the messages before asking for confirmation. */
  async function count(context: RelayContext): Promise<Response> {
    const { caller, id, query } = context
    if (query.since === undefined) return form(context, { values: usual(caller, id) })
    const { value, errors } = await submitted(
      async () => endpoints.replay(caller, id, { ...replayIn(query), dry_run: true }),
      FIELDS,
    )
    return form(context, { values: query, ...(errors ? { errors } : { count: value.count }) })
  }

  async function send(context: RelayContext): Promise<Response> {
    const { caller, id, body } = context
    const { value, errors } = await submitted(
      async () => endpoints.replay(caller, id, replayIn(body)),
      FIELDS,
    )
    if (errors) return form(context, { values: body, errors })
    return layout.go(`/console/endpoints/${id}?replayed=${value.count}`)
  }

  /** Default period: since the endpoint started to fail, or the last day. */
  function usual(caller: Caller, id: string): Fields {
    const { failing_since: since } = endpoints.get(caller, id).health
    return { since: since ?? isoTime(clock.now() - DAY_MS), which: 'undelivered' }
  }

  function form(
    { request, operator, caller, id }: RelayContext,
    of: { values: Fields; errors?: readonly FormError[]; count?: number },
  ): Response {
    const endpoint = endpoints.get(caller, id)
    const base = layout.base()
    return layout.page({
      request,
      operator,
      title: 'Replay messages',
      active: 'endpoints',
      above: [crumbTo(base, 'endpoints'), endpointCrumb(base, endpoint)],
      status: of.errors ? 422 : 200,
      hasEnvironments: true,
      children: ReplayPage({ base, endpoint, ...of }),
    })
  }

  return new Elysia({ prefix: '/console/endpoints', detail: { hide: true } })
    .use(middleware)
    .get('/:id/replay', (context) => count(contextOf(context)), { right: 'change' })
    .post('/:id/replay', (context) => send(contextOf(context)), { right: 'change' })
}
