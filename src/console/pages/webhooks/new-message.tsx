import { Button, LinkButton } from '../../../../views/ui/form/button.tsx'
import { Field } from '../../../../views/ui/form/field.tsx'
import { PageForm } from '../../../../views/ui/form/form.tsx'
import { Textarea } from '../../../../views/ui/form/textarea.tsx'
import { PageHead } from '../../../../views/ui/section.tsx'
import type { NewMessage } from '../../../engines/relay/model/messages.ts'
import { type Fields, parseJson } from '../../../http/body.ts'
import { invalid } from '../../../platform/errors.ts'
import { trimmedText } from '../../form.ts'
import { good, page, usePage } from '../../page.tsx'
import { channelsIn } from './fields.ts'

/** The form that sends a message. */
export const newMessage = page({
  path: '/messages/new',
  section: 'messages',
  hasEnvironments: true,
  right: 'change',
  title: 'New message',

  load: ({ query }) => ({ eventType: query.event_type }),

  view({ eventType }) {
    const { href, environment } = usePage()
    return (
      <>
        <PageHead
          title="New message"
          state={
            environment === 'test'
              ? { sentence: 'Test environment: the message is stored, but not delivered.' }
              : {
                  tone: 'warn',
                  sentence:
                    'Live environment: the message is delivered to every subscribed endpoint.',
                }
          }
        />
        <PageForm
          action=""
          buttons={
            <>
              <Button weight="primary">Send message</Button>
              <LinkButton weight="bare" href={href('/messages')}>
                Cancel
              </LinkButton>
            </>
          }
        >
          <Field
            name="event_type"
            label="Event type"
            isMono
            placeholder="order.paid"
            value={eventType}
          />
          <Textarea
            name="payload"
            label="Payload"
            isMono
            rows={10}
            value={'{\n  "order": 42\n}'}
            help="A JSON object, delivered exactly as typed."
          />
          <Field
            name="channels"
            label="Channels"
            isMono
            isRequired={false}
            help="Delivers only to endpoints that listen on one of these channels. If empty, to every endpoint subscribed to the event type."
          />
        </PageForm>
      </>
    )
  },

  actions: {
    '': {
      right: 'change',
      form: { event_type: 'event_type', payload: 'payload', body: 'payload', channels: 'channels' },
      flash: good('Message sent.'),
      async run({ relay, db, audit, tenantId, actor, caller, environment, fields }) {
        const { input, payloadText } = messageIn(fields)
        const { message } = await relay.messages.send(
          caller('relay', environment),
          input,
          payloadText,
        )
        const object = `message:${message.id}`
        await db.commitFor(tenantId, () =>
          audit.record({ tenantId, actor, action: 'message.sent', object }),
        )
        return { to: `/messages/${message.id}` }
      },
    },
  },
})

/** Checks a payload without reformatting it, which could change its numbers. */
function messageIn(fields: Fields): { input: NewMessage; payloadText: string } {
  const payloadText = trimmedText(fields, 'payload')
  const payload = parseJson(payloadText)
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload))
    throw invalid('must be a JSON object, such as {"order": 42}', {
      field: 'payload',
      rule: 'type',
    })
  const input = {
    event_type: trimmedText(fields, 'event_type'),
    payload,
    channels: channelsIn(fields),
  }
  return { input, payloadText }
}
