import { Elysia, t } from 'elysia'
import type { Access } from '../../../http/access.ts'
import type { DeliveryLog } from '../../../http/delivery-log/deliveries.ts'
import { Delivery } from '../../../http/delivery-log/model.ts'
import { PageOf, pageQuery } from '../../../http/paging.ts'
import { jsonWith } from '../../../http/raw-json.ts'
import { CodedErrors, refusalsIn } from '../../../http/responses.ts'
import { memberText } from '../../../platform/json-text.ts'
import type { Messages } from '../messages.ts'
import { Message, MessageDetail, NewMessage } from '../model/messages.ts'
import { reads } from './scopes.ts'

const { 402: Unpaid, 404: Unknown } = CodedErrors
const { badBody, refused } = refusalsIn(CodedErrors)

/** contract/passepartout-relay, event relay engine; single reads are additional. */
export function messageRoutes(parts: {
  messages: Messages
  deliveries: DeliveryLog
  access: Access
}) {
  const { messages, deliveries, access } = parts

  return new Elysia({ prefix: '/messages', tags: ['relay'] })
    .use(access)
    .post(
      '',
      async ({ caller, body, bodyText, set, status }) => {
        const payload = memberText(bodyText, 'payload') as string
        const { message, isMismatch } = await messages.send(caller, body, payload)
        if (isMismatch) set.headers['idempotency-mismatch'] = 'true'
        return status(202, message)
      },
      {
        scope: 'relay:send',
        detail: {
          summary: 'Send an event',
          description:
            'The event is on disk when you get the response. A repeated `idempotency_key` returns the first response; `Idempotency-Mismatch: true` means that the content was different.',
        },
        body: NewMessage,
        response: { 202: Message, ...badBody, ...refused, 402: Unpaid },
      },
    )
    .get('', ({ caller, query }) => messages.list(caller, query), {
      scope: 'relay:read',
      detail: { summary: 'List events', description: 'Newest first.' },
      query: pageQuery({ event_type: t.Optional(t.String()) }),
      response: { 200: PageOf(Message), ...refused },
    })
    .get(
      '/:message_id',
      ({ caller, params }) => {
        const { detail, payload } = messages.get(caller, params.message_id)
        return jsonWith(detail, 'payload', payload)
      },
      {
        scope: reads,
        detail: {
          summary: 'Get an event',
          description:
            'Includes the payload and, for each endpoint, the outcome or the reason why it got no delivery.',
        },
        response: { 200: MessageDetail, ...refused, 404: Unknown },
      },
    )
    .get(
      '/:message_id/deliveries',
      ({ caller, params, query }) => deliveries.ofMessage(caller, params.message_id, query),
      {
        scope: reads,
        detail: { summary: 'List the deliveries of an event', description: 'Newest first.' },
        query: pageQuery({}),
        response: { 200: PageOf(Delivery), ...refused, 404: Unknown },
      },
    )
}
