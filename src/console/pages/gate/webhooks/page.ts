import type { FormError } from '../../../../../views/console/form/error-summary.tsx'
import { WebhookPage } from '../../../../../views/console/pages/gate/webhooks/webhook.tsx'
import { EVENT_TYPES, type EventType } from '../../../../engines/gate/webhooks/events.ts'
import type { Fields } from '../../../../http/body.ts'
import type { TestResult } from '../../../../http/delivery-log/model.ts'
import { invalid } from '../../../../platform/errors.ts'
import { submitted, typed } from '../../../form.ts'
import { crumbTo } from '../../../frame.ts'
import type { Visit } from '../asked.ts'
import type { GateParts } from '../parts.ts'
import { crumbOf, existing, FLASHES } from './existing.ts'
import { FIELDS, wantedIn } from './fields.ts'
import { issuedSecret } from './issued.ts'

const ON_A_PAGE = 25

const DAY_S = 86_400
/** Seconds for which the old secret signs beside the new one. */
const GRACES = new Map([
  ['none', 0],
  ['day', DAY_S],
  ['week', 7 * DAY_S],
])

/** One webhook: state, deliveries and actions. */
export function webhookPage({ frames, gate, clock }: GateParts) {
  const { webhooks } = gate
  const { log } = webhooks

  function show(
    visit: Visit,
    of: {
      typed?: Fields
      errors?: readonly FormError[]
      test?: TestResult
      tested?: EventType
    } = {},
  ): Response {
    const { request, visitor, caller, mayChange, mayDelete, query } = visit
    const webhook = existing(gate, visit)
    const status = query.status === 'failed' ? 'failed' : undefined
    const cursor = query.cursor || undefined
    return frames.page({
      request,
      visitor,
      title: crumbOf(frames.base(), webhook).label,
      active: 'webhooks',
      above: [crumbTo(frames.base(), 'webhooks')],
      flash: FLASHES.get(query.done ?? ''),
      status: of.errors ? 422 : 200,
      children: WebhookPage({
        base: frames.base(),
        now: clock.now(),
        webhook,
        hours: webhooks.hours(caller, webhook.id),
        latest: log.list(caller, { limit: 1, endpoint_id: webhook.id }).data[0],
        deliveries: log.list(caller, {
          limit: ON_A_PAGE,
          endpoint_id: webhook.id,
          status,
          cursor,
        }),
        asked: { status },
        place: { cursor, trail: query.trail },
        mayChange,
        mayDelete,
        ...of,
      }),
    })
  }

  async function change(visit: Visit): Promise<Response> {
    const { caller, body } = visit
    const { id } = existing(gate, visit)
    const { errors } = await submitted(
      async () => webhooks.update(caller, id, wantedIn(body)),
      FIELDS,
    )
    return errors ? show(visit, { typed: body, errors }) : done(visit, 'changed')
  }

  async function setActive(visit: Visit, active: boolean): Promise<Response> {
    await webhooks.update(visit.caller, existing(gate, visit).id, { active })
    return done(visit, active ? 'resumed' : 'paused')
  }

  async function test(visit: Visit): Promise<Response> {
    const { id, events } = existing(gate, visit)
    const asked = EVENT_TYPES.find((one) => one === typed(visit.body, 'event_type'))
    const tested = asked ?? events[0] ?? EVENT_TYPES[0]
    const result = await webhooks.test(visit.caller, id, { event_type: tested })
    return show(visit, { test: result, tested })
  }

  async function rotate(visit: Visit): Promise<Response> {
    const { id } = existing(gate, visit)
    const grace = GRACES.get(typed(visit.body, 'grace'))
    if (grace === undefined)
      throw invalid('must be none, day or week', { field: 'grace', rule: 'choice' })
    const { secret } = await webhooks.rotate(visit.caller, id, { grace_seconds: grace })
    const intro = 'The new secret signs from now on.'
    return issuedSecret(frames, visit, { id, secret, intro, title: 'Secret rotated' })
  }

  async function remove(visit: Visit): Promise<Response> {
    await webhooks.remove(visit.caller, existing(gate, visit).id)
    return frames.go('/console/webhooks?done=deleted')
  }

  const done = ({ params }: Visit, what: string): Response =>
    frames.go(`/console/webhooks/${params.id}?done=${what}`)

  return { show, change, setActive, test, rotate, remove }
}
