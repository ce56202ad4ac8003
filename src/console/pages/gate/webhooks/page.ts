import type { FormError } from '../../../../../views/console/form/error-summary.tsx'
import { EVENT_TYPES, type EventType } from '../../../../engines/gate/webhooks/events.ts'
import type { Fields } from '../../../../http/body.ts'
import type { TestResult } from '../../../../http/delivery-log/model.ts'
import { SECOND_MS } from '../../../../platform/durations.ts'
import { submitted, trimmedText } from '../../../form.ts'
import { crumbTo } from '../../../layout.ts'
import { gracePeriodIn } from '../../grace-period.tsx'
import type { Context } from '../context.ts'
import type { GateParts } from '../parts.ts'
import { crumbOf, existing, FLASHES } from './existing.ts'
import { FIELDS, wantedIn } from './fields.ts'
import { issuedSecret } from './issued.ts'
import { WebhookPage } from './webhook-view.tsx'

const ON_A_PAGE = 25

/** One webhook: state, deliveries and actions. */
export function webhookPage({ layout, gate, clock }: GateParts) {
  const { webhooks } = gate
  const { log } = webhooks

  function show(
    context: Context,
    of: {
      values?: Fields
      errors?: readonly FormError[]
      test?: TestResult
      testedType?: EventType
    } = {},
  ): Response {
    const { request, operator, caller, mayChange, mayDelete, query } = context
    const webhook = existing(gate, context)
    const status = query.status === 'failed' ? 'failed' : undefined
    const cursor = query.cursor || undefined
    return layout.page({
      request,
      operator,
      title: crumbOf(layout.base(), webhook).label,
      active: 'webhooks',
      above: [crumbTo(layout.base(), 'webhooks')],
      flash: FLASHES.get(query.done ?? ''),
      status: of.errors ? 422 : 200,
      children: WebhookPage({
        base: layout.base(),
        now: clock.now(),
        webhook,
        hours: webhooks.hours(caller, webhook.id),
        latest: log.list(caller, { limit: 1, endpoint_id: webhook.id }).data[0],
        deliveries: log.list(caller, { limit: ON_A_PAGE, endpoint_id: webhook.id, status, cursor }),
        filters: { status },
        position: { cursor, trail: query.trail },
        mayChange,
        mayDelete,
        ...of,
      }),
    })
  }

  async function change(context: Context): Promise<Response> {
    const { caller, body } = context
    const { id } = existing(gate, context)
    const { errors } = await submitted(
      async () => webhooks.update(caller, id, wantedIn(body)),
      FIELDS,
    )
    return errors ? show(context, { values: body, errors }) : done(context, 'changed')
  }

  async function setActive(context: Context, active: boolean): Promise<Response> {
    await webhooks.update(context.caller, existing(gate, context).id, { active })
    return done(context, active ? 'resumed' : 'paused')
  }

  async function test(context: Context): Promise<Response> {
    const { id, events } = existing(gate, context)
    const requested = EVENT_TYPES.find((one) => one === trimmedText(context.body, 'event_type'))
    const testedType = requested ?? events[0] ?? EVENT_TYPES[0]
    const result = await webhooks.test(context.caller, id, { event_type: testedType })
    return show(context, { test: result, testedType })
  }

  async function rotate(context: Context): Promise<Response> {
    const { id } = existing(gate, context)
    const graceMs = gracePeriodIn(context.body)
    const { secret } = await webhooks.rotate(context.caller, id, {
      grace_seconds: graceMs / SECOND_MS,
    })
    const intro = 'The new secret signs from now on.'
    return issuedSecret(layout, context, { id, secret, intro, title: 'Secret rotated' })
  }

  async function remove(context: Context): Promise<Response> {
    await webhooks.remove(context.caller, existing(gate, context).id)
    return layout.go('/console/webhooks?done=deleted')
  }

  const done = ({ params }: Context, what: string): Response =>
    layout.go(`/console/webhooks/${params.id}?done=${what}`)

  return { show, change, setActive, test, rotate, remove }
}
