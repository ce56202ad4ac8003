import type { Fields } from '../../../../src/http/body.ts'
import { Button, LinkButton } from '../../form/button.tsx'
import type { FormError } from '../../form/error-summary.tsx'
import { Field } from '../../form/field.tsx'
import { Form } from '../../form/form.tsx'
import { Textarea } from '../../form/textarea.tsx'
import { errorAt, rawText } from '../../form/values.ts'
import { PageHead } from '../../page-head.tsx'
import { url } from '../../url.ts'

/** Form that sends a message. */
export const NewMessagePage = (page: {
  base: string
  isTest: boolean
  values: Fields
  errors: readonly FormError[] | undefined
}) => {
  const of = (name: string) => ({
    name,
    value: rawText(page.values, name),
    error: errorAt(page.errors, name),
  })
  return (
    <>
      <PageHead
        title="New message"
        state={
          page.isTest
            ? { sentence: 'Test environment: the message is stored, but not delivered.' }
            : {
                tone: 'warn',
                sentence:
                  'Live environment: the message is delivered to every subscribed endpoint.',
              }
        }
      />
      <Form
        action={url(page.base, '/console/messages')}
        errors={page.errors}
        buttons={
          <>
            <Button weight="primary">Send message</Button>
            <LinkButton weight="bare" href={url(page.base, '/console/messages')}>
              Cancel
            </LinkButton>
          </>
        }
      >
        <Field {...of('event_type')} label="Event type" isMono placeholder="order.paid" />
        <Textarea
          {...of('payload')}
          value={rawText(page.values, 'payload') ?? '{\n  "order": 42\n}'}
          label="Payload"
          isMono
          rows={10}
          help="A JSON object, delivered exactly as typed."
        />
        <Field
          {...of('channels')}
          label="Channels"
          isMono
          isRequired={false}
          help="Delivers only to endpoints that listen on one of these channels. If empty, to every endpoint subscribed to the event type."
        />
      </Form>
    </>
  )
}
