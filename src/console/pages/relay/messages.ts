import { Elysia } from 'elysia'
import type { FormError } from '../../../../views/console/form/error-summary.tsx'
import { MessagePage } from '../../../../views/console/pages/relay/message.tsx'
import { MessagesPage } from '../../../../views/console/pages/relay/messages.tsx'
import { NewMessagePage } from '../../../../views/console/pages/relay/new-message.tsx'
import { STAGES } from '../../../delivery/store/fan-out.ts'
import type { NewMessage } from '../../../engines/relay/model/messages.ts'
import { type Fields, parseJson } from '../../../http/body.ts'
import { invalid } from '../../../platform/errors.ts'
import { submitted, typed } from '../../form.ts'
import { crumbTo } from '../../frame.ts'
import { channelsIn } from './fields.ts'
import type { RelayParts } from './parts.ts'
import type { RelayVisit } from './visit.ts'

const ON_A_PAGE = 50
/** Deliveries of a message per page. */
const ENDPOINTS_SHOWN = 50
const FIELDS = {
  event_type: 'event_type',
  payload: 'payload',
  body: 'payload',
  channels: 'channels',
}

/** Messages with their deliveries, and a form to send one. */
export function messagePages(parts: RelayParts) {
  const { kit, frames, db, audit, clock, baseUrl, visited } = parts
  const { messages, fanOutOf } = parts.relay

  function list({ request, visitor, caller, query, place, mayChange }: RelayVisit): Response {
    const { cursor } = place
    const eventType = query.event_type || undefined
    return frames.page({
      request,
      visitor,
      title: 'Messages',
      active: 'messages',
      hasEnvironments: true,
      children: MessagesPage({
        base: frames.base(),
        apiUrl: baseUrl(),
        page: messages.list(caller, { limit: ON_A_PAGE, cursor, event_type: eventType }),
        place,
        eventType,
        mayChange,
        now: clock.now(),
      }),
    })
  }

  function form(
    { request, visitor, query, caller }: RelayVisit,
    of: { typed?: Fields; errors?: readonly FormError[] } = {},
  ): Response {
    return frames.page({
      request,
      visitor,
      title: 'New message',
      active: 'messages',
      above: [crumbTo(frames.base(), 'messages')],
      status: of.errors ? 422 : 200,
      hasEnvironments: true,
      children: NewMessagePage({
        base: frames.base(),
        isTest: caller.environment === 'test',
        typed: { event_type: query.event_type, ...of.typed },
        errors: of.errors,
      }),
    })
  }

  async function send(visit: RelayVisit): Promise<Response> {
    const { caller, actor, tenant, body } = visit
    const { value, errors } = await submitted(async () => {
      const { input, payloadText } = messageIn(body)
      const { message } = await messages.send(caller, input, payloadText)
      const object = `message:${message.id}`
      const { tenantId } = tenant
      await db.commitFor(tenantId, () =>
        audit.record({ tenantId, actor, action: 'message.sent', object }),
      )
      return message
    }, FIELDS)
    return value
      ? frames.go(`/console/messages/${value.id}?done=sent`)
      : form(visit, { typed: body, errors })
  }

  function show({ request, visitor, caller, id, query, place }: RelayVisit): Response {
    const stage = STAGES.find((one) => one === query.stage)
    const fanOut = fanOutOf(caller, id, {
      limit: ENDPOINTS_SHOWN,
      stage,
      cursor: place.cursor,
      otherCursor: query.others || undefined,
    })
    return frames.page({
      request,
      visitor,
      title: fanOut.message.event_type,
      active: 'messages',
      above: [crumbTo(frames.base(), 'messages')],
      flash: query.done === 'sent' ? { tone: 'good', text: 'Message sent.' } : undefined,
      hasEnvironments: true,
      children: MessagePage({
        base: frames.base(),
        fanOut,
        stage,
        place,
        isAmongOthers: query.others !== undefined,
        now: clock.now(),
      }),
    })
  }

  return new Elysia({ prefix: '/console/messages', detail: { hide: true } })
    .use(kit)
    .get('', (visit) => list(visited(visit)), { right: 'read' })
    .get('/new', (visit) => form(visited(visit)), { right: 'change' })
    .post('', (visit) => send(visited(visit)), { right: 'change' })
    .get('/:id', (visit) => show(visited(visit)), { right: 'read' })
}

/** Checks a payload without reformatting it, which could change its numbers. */
function messageIn(body: Fields): { input: NewMessage; payloadText: string } {
  const payloadText = typed(body, 'payload')
  const payload = parseJson(payloadText)
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload))
    throw invalid('must be a JSON object, such as {"order": 42}', {
      field: 'payload',
      rule: 'type',
    })
  const input = { event_type: typed(body, 'event_type'), payload, channels: channelsIn(body) }
  return { input, payloadText }
}
