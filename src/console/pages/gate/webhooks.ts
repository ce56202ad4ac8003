import { Elysia } from 'elysia'
import type { FormError } from '../../../../views/console/form/error-summary.tsx'
import {
  DeliveryPage,
  fieldOf,
  IssuedSecretPage,
  NewWebhookPage,
  WebhookPage,
  WebhooksPage,
} from '../../../../views/console/pages/gate/webhooks.tsx'
import { shorten } from '../../../../views/console/text.tsx'
import { EVENT_TYPES, type EventType } from '../../../engines/gate/events.ts'
import type { Gate } from '../../../engines/gate/index.ts'
import type { Webhook } from '../../../engines/gate/model/webhooks.ts'
import type { Fields } from '../../../http/body.ts'
import type { DeliveryDetail, TestResult } from '../../../http/delivery-log/model.ts'
import type { Clock } from '../../../platform/clock.ts'
import { fail, invalid, notFound } from '../../../platform/errors.ts'
import type { CallerOf } from '../../callers.ts'
import { submitted, typed } from '../../form.ts'
import { crumbTo, type Frames } from '../../frame.ts'
import type { ConsoleKit } from '../../kit.ts'
import { type Visit, visitsOf } from './asked.ts'

const ON_A_PAGE = 25
/** Enough to say of most webhooks what became of their last delivery. */
const LATEST = 200

const DAY_S = 86_400
/** For how long an old secret signs beside the new one, in seconds. */
const GRACES = { none: 0, day: DAY_S, week: 7 * DAY_S } as const

/** Who is told what happens to people: made, tested, looked into, paused and deleted. */
export function webhookPages(parts: {
  kit: ConsoleKit
  frames: Frames
  gate: Gate
  clock: Clock
  callerOf: CallerOf
}) {
  const { kit, frames, clock } = parts
  const { webhooks } = parts.gate
  const { log } = webhooks
  const asked = visitsOf(parts.callerOf)

  const existing = ({ caller, params }: Visit): Webhook =>
    webhooks.list(caller).webhooks.find(({ id }) => id === params.id) ??
    fail(notFound('webhook not found'))

  const above = () => [crumbTo(frames.base(), 'webhooks')]
  const crumbOf = ({ id, url }: Webhook) => ({
    label: shorten(new URL(url).host, 40),
    href: `${frames.base()}/console/webhooks/${id}`,
  })

  function list({ request, visitor, caller, mayChange, query }: Visit): Response {
    return frames.page({
      request,
      visitor,
      title: 'Webhooks',
      active: 'webhooks',
      flash: query.done === undefined ? undefined : FLASHES[query.done],
      children: WebhooksPage({
        base: frames.base(),
        now: clock.now(),
        webhooks: webhooks.list(caller).webhooks.toReversed(),
        latest: log.list(caller, { limit: LATEST }).data,
        mayChange,
      }),
    })
  }

  const form = (
    { request, visitor }: Visit,
    of: { typed?: Fields; errors?: readonly FormError[] } = {},
  ): Response =>
    frames.page({
      request,
      visitor,
      title: 'New webhook',
      active: 'webhooks',
      above: above(),
      status: of.errors ? 422 : 200,
      children: NewWebhookPage({ base: frames.base(), ...of }),
    })

  async function create(visit: Visit): Promise<Response> {
    const { caller, body } = visit
    const { value, errors } = await submitted(
      async () => webhooks.create(caller, wantedIn(body)),
      FIELDS,
    )
    if (!value) return form(visit, { typed: body, errors })
    const intro = 'It is told of what happens from now on.'
    return issued(visit, { ...value, intro, title: 'Webhook created' })
  }

  /** The answer to the form itself: no other page could show the secret. */
  const issued = (
    { request, visitor }: Visit,
    of: { id: string; secret: string; title: string; intro: string },
  ): Response =>
    frames.page({
      request,
      visitor,
      title: of.title,
      active: 'webhooks',
      above: above(),
      children: IssuedSecretPage({ base: frames.base(), ...of }),
    })

  function show(
    visit: Visit,
    of: { typed?: Fields; errors?: readonly FormError[]; test?: TestResult } = {},
  ): Response {
    const { request, visitor, caller, mayChange, mayDelete, query } = visit
    const webhook = existing(visit)
    const status = query.status === 'failed' ? 'failed' : undefined
    const { cursor } = query
    return frames.page({
      request,
      visitor,
      title: crumbOf(webhook).label,
      active: 'webhooks',
      above: above(),
      flash: query.done === undefined ? undefined : FLASHES[query.done],
      status: of.errors ? 422 : 200,
      children: WebhookPage({
        base: frames.base(),
        now: clock.now(),
        webhook,
        latest: log.list(caller, { limit: 1, endpoint_id: webhook.id }).data[0],
        deliveries: log.list(caller, {
          limit: ON_A_PAGE,
          endpoint_id: webhook.id,
          status,
          cursor: cursor || undefined,
        }),
        asked: { status, cursor },
        mayChange,
        mayDelete,
        ...of,
      }),
    })
  }

  async function change(visit: Visit): Promise<Response> {
    const { caller, body } = visit
    const { id } = existing(visit)
    const { errors } = await submitted(
      async () => webhooks.update(caller, id, wantedIn(body)),
      FIELDS,
    )
    return errors ? show(visit, { typed: body, errors }) : done(visit, 'changed')
  }

  async function setActive(visit: Visit, active: boolean): Promise<Response> {
    await webhooks.update(visit.caller, existing(visit).id, { active })
    return done(visit, active ? 'resumed' : 'paused')
  }

  async function test(visit: Visit): Promise<Response> {
    const { id } = existing(visit)
    const type = EVENT_TYPES.find((one) => one === typed(visit.body, 'event_type'))
    const result = await webhooks.test(visit.caller, id, type ? { event_type: type } : null)
    return show(visit, { test: result })
  }

  async function rotate(visit: Visit): Promise<Response> {
    const { id } = existing(visit)
    const grace = typed(visit.body, 'grace')
    if (!Object.hasOwn(GRACES, grace)) throw invalid('grace: expected none, day or week')
    const { secret } = await webhooks.rotate(visit.caller, id, {
      grace_seconds: GRACES[grace as keyof typeof GRACES],
    })
    const intro = 'It signs from now on.'
    return issued(visit, { id, secret, intro, title: 'Secret replaced' })
  }

  async function remove(visit: Visit): Promise<Response> {
    await webhooks.remove(visit.caller, existing(visit).id)
    return frames.go('/console/webhooks?done=deleted')
  }

  /** One of the webhook that the address names. */
  function delivered(visit: Visit): { webhook: Webhook; delivery: DeliveryDetail } {
    const webhook = existing(visit)
    const delivery = log.get(visit.caller, visit.params.part)
    if (delivery.endpoint_id !== webhook.id) throw notFound('delivery not found')
    return { webhook, delivery }
  }

  function showDelivery(visit: Visit): Response {
    const { request, visitor, mayChange, query } = visit
    const { webhook, delivery } = delivered(visit)
    return frames.page({
      request,
      visitor,
      title: delivery.event_type,
      active: 'webhooks',
      above: [...above(), crumbOf(webhook)],
      flash: query.done === undefined ? undefined : FLASHES[query.done],
      children: DeliveryPage({
        base: frames.base(),
        now: clock.now(),
        webhook,
        delivery,
        attemptId: query.attempt,
        mayChange,
      }),
    })
  }

  async function resend(visit: Visit): Promise<Response> {
    const { webhook, delivery } = delivered(visit)
    await log.resend(visit.caller, delivery.id)
    return frames.go(`/console/webhooks/${webhook.id}/deliveries/${delivery.id}?done=resent`)
  }

  const done = ({ params }: Visit, what: string): Response =>
    frames.go(`/console/webhooks/${params.id}?done=${what}`)

  return new Elysia({ name: 'webhook pages', prefix: '/console/webhooks', detail: { hide: true } })
    .use(kit)
    .get('', (visit) => list(asked(visit)), { right: 'read' })
    .get('/new', (visit) => form(asked(visit)), { right: 'change' })
    .post('', (visit) => create(asked(visit)), { right: 'change' })
    .get('/:id', (visit) => show(asked(visit)), { right: 'read' })
    .post('/:id', (visit) => change(asked(visit)), { right: 'change' })
    .post('/:id/pause', (visit) => setActive(asked(visit), false), { right: 'change' })
    .post('/:id/resume', (visit) => setActive(asked(visit), true), { right: 'change' })
    .post('/:id/test', (visit) => test(asked(visit)), { right: 'change' })
    .post('/:id/rotate', (visit) => rotate(asked(visit)), { right: 'change' })
    .post('/:id/delete', (visit) => remove(asked(visit)), { right: 'delete' })
    .get('/:id/deliveries/:part', (visit) => showDelivery(asked(visit)), { right: 'read' })
    .post('/:id/deliveries/:part/resend', (visit) => resend(asked(visit)), { right: 'change' })
}

const good = (text: string) => ({ tone: 'good' as const, text })

const FLASHES: Readonly<Record<string, ReturnType<typeof good>>> = {
  changed: good('Saved.'),
  paused: good('Paused. It is told nothing, and is not told later.'),
  resumed: good('Resumed. It is told of what happens from now on.'),
  deleted: good('Deleted. What was still to come for it is cancelled.'),
  resent: good('Sent again.'),
}

const FIELDS = { url: 'url', events: 'events' }

function wantedIn(body: Fields): { url: string; events: EventType[] } {
  const events = EVENT_TYPES.filter((type) => typed(body, fieldOf(type)) !== '')
  if (events.length === 0) throw invalid('events: choose at least one')
  const url = typed(body, 'url')
  if (url === '') throw invalid('url: expected an http or https URL')
  return { url, events }
}
