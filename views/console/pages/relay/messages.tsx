import type { Message } from '../../../../src/engines/relay/model/messages.ts'
import type { Page } from '../../../../src/platform/cursor.ts'
import { DataTable } from '../../data-table.tsx'
import { EmptyState } from '../../empty-state.tsx'
import { FilterBar } from '../../filter-bar.tsx'
import { LinkButton } from '../../form/button.tsx'
import { Id } from '../../id.tsx'
import { type ListPosition, pagerLinks } from '../../list-position.ts'
import { PageHead } from '../../page-head.tsx'
import { Text } from '../../text.tsx'
import { url } from '../../url.ts'
import { firstMessage } from './first-message.ts'
import { Moment } from './state.tsx'

/** Messages, newest first. */
export const MessagesPage = (page: {
  base: string
  apiUrl: string
  page: Page<Message>
  position: ListPosition
  eventType: string | undefined
  mayChange: boolean
  now: number
}) => {
  const { base, eventType, now } = page
  const { data, next_cursor: cursor } = page.page
  const hasAny = data.length > 0 || eventType !== undefined
  const send = page.mayChange && (
    <LinkButton
      weight="primary"
      href={url(base, '/console/messages/new', { event_type: eventType })}
    >
      Send message
    </LinkButton>
  )
  return (
    <>
      <PageHead title="Messages" state={{ sentence: sentenceOn(page) }} action={hasAny && send} />
      {hasAny && (
        <FilterBar
          action={url(base, '/console/messages')}
          search={{ label: 'Search by event type', name: 'event_type', value: eventType }}
          clearHref={eventType && url(base, '/console/messages')}
        />
      )}
      <DataTable
        caption="Messages"
        rows={data}
        hrefOf={({ id }) => url(base, `/console/messages/${id}`)}
        idOf={({ id }) => id}
        columns={[
          {
            label: 'Event type',
            isWide: true,
            cell: ({ event_type: type }) => <Text text={type} />,
          },
          { label: 'ID', cell: ({ id }) => <Id id={id} what="message ID" /> },
          {
            label: 'Received',
            align: 'right',
            narrow: 'corner',
            cell: ({ timestamp }) => <Moment at={timestamp} now={now} />,
          },
        ]}
        empty={
          eventType === undefined ? (
            <EmptyState
              icon="messages"
              sentence="No messages yet"
              next="Your apps send messages with an API key for Webhooks (relay). You can also send one here."
              action={send}
              curl={firstMessage(page.apiUrl)}
            />
          ) : (
            <EmptyState
              icon="messages"
              sentence="No messages of this type"
              next="Enter the full event type, such as order.paid."
              action={
                <LinkButton href={url(base, '/console/messages')}>View all messages</LinkButton>
              }
            />
          )
        }
        pages={pagerLinks(page.position, cursor, (position) =>
          url(base, '/console/messages', { event_type: eventType, ...position }),
        )}
      />
    </>
  )
}

function sentenceOn({ page, position, eventType, now }: Parameters<typeof MessagesPage>[0]) {
  const [latest] = page.data
  const of = eventType === undefined ? '' : ' of this type'
  if (!latest) return `No messages${of === '' ? ' yet' : of}`
  if (position.cursor !== undefined) return `Older messages${of}`
  return (
    <>
      Last message{of} received <Moment at={latest.timestamp} now={now} />
    </>
  )
}
