import type { Message } from '../../../../src/engines/relay/model/messages.ts'
import type { Page } from '../../../../src/platform/cursor.ts'
import { DataTable } from '../../data-table.tsx'
import { EmptyState } from '../../empty-state.tsx'
import { FilterBar } from '../../filter-bar.tsx'
import { LinkButton } from '../../form/button.tsx'
import { Id } from '../../id.tsx'
import { PageHead } from '../../page-head.tsx'
import { Text } from '../../text.tsx'
import { type ListPlace, pagesAlong } from '../../trail.ts'
import { url } from '../../url.ts'
import { firstMessage } from './first-message.ts'
import { Moment } from './state.tsx'

/** What came in, newest first. */
export const MessagesPage = (page: {
  base: string
  apiUrl: string
  page: Page<Message>
  place: ListPlace
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
      Send a message
    </LinkButton>
  )
  return (
    <>
      <PageHead title="Messages" state={{ sentence: sentenceOn(page) }} action={hasAny && send} />
      {hasAny && (
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
        pages={pagesAlong(page.place, cursor, (place) =>
          url(base, '/console/messages', { event_type: eventType, ...place }),
        )}
      />
    </>
  )
}

function sentenceOn({ page, place, eventType, now }: Parameters<typeof MessagesPage>[0]) {
  const [latest] = page.data
  const of = eventType === undefined ? '' : ' of this type'
  if (!latest) return `Nothing has come in${of}.`
  if (place.cursor !== undefined) return `Older messages${of}.`
  return (
    <>
      The last message{of} came <Moment at={latest.timestamp} now={now} />.
    </>
  )
}
