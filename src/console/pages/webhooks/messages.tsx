import { EmptyState } from '../../../../views/ui/empty-state.tsx'
import { FilterBar } from '../../../../views/ui/filter-bar.tsx'
import { LinkButton } from '../../../../views/ui/form/button.tsx'
import { Id } from '../../../../views/ui/id.tsx'
import { type ListPosition, pagerLinks } from '../../../../views/ui/pager.tsx'
import { PageHead } from '../../../../views/ui/section.tsx'
import { DataTable } from '../../../../views/ui/table.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import type { Message } from '../../../engines/relay/model/messages.ts'
import type { Page } from '../../../platform/cursor.ts'
import { page, usePage } from '../../page.tsx'
import { firstMessage } from './first-message.ts'
import { Moment } from './state.tsx'

const ON_A_PAGE = 50

interface MessageList {
  found: Page<Message>
  eventType: string | undefined
}

/** Messages, newest first. */
export const messageList = page({
  path: '/messages',
  section: 'messages',
  hasEnvironments: true,
  right: 'read',
  title: 'Messages',

  load({ relay, caller, environment, query, position: { cursor } }): MessageList {
    const eventType = query.event_type || undefined
    const of = { limit: ON_A_PAGE, cursor, event_type: eventType }
    return { found: relay.messages.list(caller('relay', environment), of), eventType }
  },

  view(list) {
    const { found, eventType } = list
    const { href, may, position, baseUrl } = usePage()
    const { data, next_cursor: cursor } = found
    const hasAny = data.length > 0 || eventType !== undefined
    const send = may('change') && (
      <LinkButton weight="primary" href={href('/messages/new', { event_type: eventType })}>
        Send message
      </LinkButton>
    )
    return (
      <>
        <PageHead
          title="Messages"
          state={{ sentence: sentenceOn(list, position) }}
          action={hasAny && send}
        />
        {hasAny && (
          <FilterBar
            action={href('/messages')}
            search={{ label: 'Search by event type', name: 'event_type', value: eventType }}
            clearHref={eventType && href('/messages')}
          />
        )}
        <DataTable
          caption="Messages"
          rows={data}
          hrefOf={({ id }) => href(`/messages/${id}`)}
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
              cell: ({ timestamp }) => <Moment at={timestamp} />,
            },
          ]}
          empty={
            eventType === undefined ? (
              <EmptyState
                icon="messages"
                sentence="No messages yet"
                next="Your apps send messages with an API key for Webhooks (relay). You can also send one here."
                action={send}
                curl={firstMessage(baseUrl())}
              />
            ) : (
              <EmptyState
                icon="messages"
                sentence="No messages of this type"
                next="Enter the full event type, such as order.paid."
                action={<LinkButton href={href('/messages')}>View all messages</LinkButton>}
              />
            )
          }
          pages={pagerLinks(position, cursor, (to) =>
            href('/messages', { event_type: eventType, ...to }),
          )}
        />
      </>
    )
  },
})

function sentenceOn({ found, eventType }: MessageList, position: ListPosition) {
  const [latest] = found.data
  const of = eventType === undefined ? '' : ' of this type'
  if (!latest) return `No messages${of === '' ? ' yet' : of}`
  if (position.cursor !== undefined) return `Older messages${of}`
  return (
    <>
      Last message{of} received <Moment at={latest.timestamp} />
    </>
  )
}
