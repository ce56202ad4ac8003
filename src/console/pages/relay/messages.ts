import { Elysia } from 'elysia'
import type { FormError } from '../../../../views/console/form/error-summary.tsx'
import { MessagePage } from '../../../../views/console/pages/relay/message.tsx'
import { MessagesPage } from '../../../../views/console/pages/relay/messages.tsx'
import { NewMessagePage } from '../../../../views/console/pages/relay/new-message.tsx'
import { STAGES } from '../../../delivery/store/fan-out.ts'
import type { NewMessage } from '../../../engines/relay/model/messages.ts'
import { type Fields, parseJson } from '../../../http/body.ts'
import { invalid } from '../../../platform/errors.ts'
import { submitted, trimmedText } from '../../form.ts'
import { crumbTo } from '../../layout.ts'
import type { RelayContext } from './context.ts'
import { channelsIn } from './fields.ts'
import type { RelayParts } from './parts.ts'

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
  const { middleware, layout, db, audit, clock, baseUrl, contextOf } = parts
  const { messages, fanOutOf } = parts.relay

  function list({ request, operator, caller, query, position, mayChange }: RelayContext): Response {
    const { cursor } = position
    const eventType = query.event_type || undefined
    return layout.page({
      request,
      operator,
      title: 'Messages',
      active: 'messages',
      hasEnvironments: true,
      children: MessagesPage({
        base: layout.base(),
        apiUrl: baseUrl(),
        page: messages.list(caller, { limit: ON_A_PAGE, cursor, event_type: eventType }),
        position,
        eventType,
        mayChange,
        now: clock.now(),
      }),
    })
  }

  function form(
    { request, operator, query, caller }: RelayContext,
    of: { values?: Fields; errors?: readonly FormError[] } = {},
  ): Response {
    return layout.page({
      request,
      operator,
      title: 'New message',
      active: 'messages',
      above: [crumbTo(layout.base(), 'messages')],
      status: of.errors ? 422 : 200,
      hasEnvironments: true,
      children: NewMessagePage({
        base: layout.base(),
        isTest: caller.environment === 'test',
        values: { event_type: query.event_type, ...of.values },
        errors: of.errors,
      }),
    })
  }

  async function send(context: RelayContext): Promise<Response> {
    const { caller, actor, tenant, body } = context
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
      ? layout.go(`/console/messages/${value.id}?done=sent`)
      : form(context, { values: body, errors })
  }

  function show({ request, operator, caller, id, query, position }: RelayContext): Response {
    const stage = STAGES.find((one) => one === query.stage)
    const fanOut = fanOutOf(caller, id, {
      limit: ENDPOINTS_SHOWN,
      stage,
      cursor: position.cursor,
      otherCursor: query.others || undefined,
    })
    return layout.page({
      request,
      operator,
      title: fanOut.message.event_type,
      active: 'messages',
      above: [crumbTo(layout.base(), 'messages')],
      flash: query.done === 'sent' ? { tone: 'good', text: 'Message sent.' } : undefined,
      hasEnvironments: true,
      children: MessagePage({
        base: layout.base(),
        fanOut,
        stage,
        position,
        isAmongOthers: query.others !== undefined,
        now: clock.now(),
      }),
    })
  }

  return new Elysia({ prefix: '/console/messages', detail: { hide: true } })
    .use(middleware)
    .get('', (context) => list(contextOf(context)), { right: 'read' })
    .get('/new', (context) => form(contextOf(context)), { right: 'change' })
    .post('', (context) => send(contextOf(context)), { right: 'change' })
    .get('/:id', (context) => show(contextOf(context)), { right: 'read' })
}

/** Checks a payload without reformatting it, which could change its numbers. */
function messageIn(body: Fields): { input: NewMessage; payloadText: string } {
  const payloadText = trimmedText(body, 'payload')
  const payload = parseJson(payloadText)
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload))
    throw invalid('must be a JSON object, such as {"order": 42}', {
      field: 'payload',
      rule: 'type',
    })
  const input = { event_type: trimmedText(body, 'event_type'), payload, channels: channelsIn(body) }
  return { input, payloadText }
}
