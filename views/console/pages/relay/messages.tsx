import type { Message } from '../../../../src/engines/relay/model/messages.ts'
import type { Fields } from '../../../../src/http/body.ts'
import type { Page } from '../../../../src/platform/cursor.ts'
import { DataTable } from '../../data-table.tsx'
import { EmptyState } from '../../empty-state.tsx'
import { FilterBar } from '../../filter-bar.tsx'
import { Button, LinkButton } from '../../form/button.tsx'
import type { FormError } from '../../form/error-summary.tsx'
import { Field } from '../../form/field.tsx'
import { Form } from '../../form/form.tsx'
import { Textarea } from '../../form/textarea.tsx'
import { Id } from '../../id.tsx'
import { PageHead } from '../../page-head.tsx'
import { Text } from '../../text.tsx'
import { url } from '../../url.ts'
import { firstMessage } from './first-message.ts'
import { Moment, textIn } from './state.tsx'

/** What came in, newest first. */
export const MessagesPage = (page: {
  base: string
  apiUrl: string
  page: Page<Message>
  isFirst: boolean
  eventType: string | undefined
  mayChange: boolean
  now: number
}) => {
  const { base, eventType, now } = page
  const { data, next_cursor: cursor } = page.page
  const href = (of: { cursor?: string }) =>
    url(base, '/console/messages', { event_type: eventType, ...of })
  const send = page.mayChange && (
    <LinkButton
      weight="primary"
      href={url(base, '/console/messages/new', { event_type: eventType })}
    >
      Send a message
    </LinkButton>
  )
  return (
    <>
      <PageHead title="Messages" state={{ sentence: sentenceOn(page) }} action={send} />
      {(data.length > 0 || eventType !== undefined) && (
        <FilterBar
          action={url(base, '/console/messages')}
          search={{ label: 'Event type', name: 'event_type', value: eventType }}
          clearHref={eventType && url(base, '/console/messages')}
        />
      )}
      <DataTable
        caption="Messages"
        rows={data}
        hrefOf={({ id }) => url(base, `/console/messages/${id}`)}
        idOf={({ id }) => id}
        columns={[
          { label: 'Type', isWide: true, cell: ({ event_type: type }) => <Text text={type} /> },
          { label: 'Id', cell: ({ id }) => <Id id={id} what="message id" /> },
          {
            label: 'Accepted',
            align: 'right',
            narrow: 'corner',
            cell: ({ timestamp }) => <Moment at={timestamp} now={now} />,
          },
        ]}
        empty={
          eventType === undefined ? (
            <EmptyState
              icon="messages"
              sentence="No message yet."
              next="Programs send them with a key of the relay; one can be sent from here for trying."
              action={send}
              curl={firstMessage(page.apiUrl)}
            />
          ) : (
            <EmptyState
              icon="messages"
              sentence="No message of that type."
              next="The type is given whole, such as order.paid."
              action={<LinkButton href={url(base, '/console/messages')}>Show all</LinkButton>}
            />
          )
        }
        pages={{
          newerHref: page.isFirst ? undefined : href({}),
          olderHref: cursor === null ? undefined : href({ cursor }),
        }}
      />
    </>
  )
}

function sentenceOn({ page, isFirst, eventType, now }: Parameters<typeof MessagesPage>[0]) {
  const [latest] = page.data
  const of = eventType === undefined ? '' : ' of this type'
  if (!latest) return `Nothing has come in${of}.`
  if (!isFirst) return `Older messages${of}.`
  return (
    <>
      The last message{of} came <Moment at={latest.timestamp} now={now} />.
    </>
  )
}

/** A message by hand, to see where it goes. */
export const NewMessagePage = (page: {
  base: string
  isTest: boolean
  typed: Fields
  errors: readonly FormError[] | undefined
}) => {
  const of = (name: string) => ({
    name,
    value: textIn(page.typed, name),
    error: page.errors?.find((error) => error.name === name)?.message,
  })
  return (
    <>
      <PageHead
        title="Send a message"
        state={
          page.isTest
            ? { sentence: 'Test data: it is accepted and shown, and goes nowhere.' }
            : { tone: 'warn', sentence: 'Live data: it goes to every endpoint that listens to it.' }
        }
      />
      <Form
        action={url(page.base, '/console/messages')}
        errors={page.errors}
        buttons={
          <>
            <Button weight="primary">Send message</Button>
            <LinkButton weight="bare" href={url(page.base, '/console/messages')}>
              Back
            </LinkButton>
          </>
        }
      >
        <Field {...of('event_type')} label="Event type" isMono placeholder="order.paid" />
        <Textarea
          {...of('payload')}
          value={textIn(page.typed, 'payload') ?? '{\n  "order": 42\n}'}
          label="Payload"
          isMono
          rows={10}
          help="A JSON object. It is sent on as it is spelled here."
        />
        <Field {...of('channels')} label="Channels" isMono isRequired={false} />
      </Form>
    </>
  )
}
