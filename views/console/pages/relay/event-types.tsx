import type { EventTypeSeen } from '../../../../src/engines/relay/model/event-types.ts'
import type { Page } from '../../../../src/platform/cursor.ts'
import { DataTable } from '../../data-table.tsx'
import { EmptyState } from '../../empty-state.tsx'
import { FilterBar } from '../../filter-bar.tsx'
import { LinkButton } from '../../form/button.tsx'
import { type ListPosition, pagerLinks } from '../../list-position.ts'
import { PageHead } from '../../page-head.tsx'
import { StatusBadge } from '../../status-badge.tsx'
import { shorten, Text } from '../../text.tsx'
import { url } from '../../url.ts'
import { counted } from '../../words.ts'
import { firstMessage } from './first-message.ts'
import { Moment } from './state.tsx'

/** Event types of all messages so far. */
export const EventTypesPage = (page: {
  base: string
  apiUrl: string
  page: Page<EventTypeSeen>
  /** Prefix to filter by. */
  prefix: string
  position: ListPosition
  now: number
}) => {
  const { base, prefix, now } = page
  const { data, next_cursor: cursor } = page.page
  return (
    <>
      <PageHead title="Event types" state={{ sentence: sentenceOn(page) }} />
      {(data.length > 0 || prefix !== '') && (
        <FilterBar
          action={url(base, '/console/event-types')}
          search={{ label: 'Search by prefix', value: prefix }}
          clearHref={prefix === '' ? undefined : url(base, '/console/event-types')}
        />
      )}
      <DataTable
        caption="Event types"
        rows={data}
        hrefOf={({ name }) => url(base, `/console/event-types/${encodeURIComponent(name)}`)}
        columns={[
          { label: 'Type', isMono: true, isWide: true, cell: ({ name }) => <Text text={name} /> },
          {
            label: 'Schema',
            narrow: 'corner',
            cell: ({ breaking_changes: changes }) =>
              changes === 0 ? (
                <StatusBadge tone="good" word="schema unchanged" />
              ) : (
                <StatusBadge tone="warn" word="breaking change" />
              ),
          },
          {
            label: 'Messages',
            align: 'right',
            cell: ({ name, count }) => (
              <a href={url(base, '/console/messages', { event_type: name })}>
                {count.toLocaleString('en')}
                <span class="unseen"> messages of {name}</span>
              </a>
            ),
          },
          {
            label: 'First seen',
            align: 'right',
            cell: ({ first_seen_at: at }) => <Moment at={at} now={now} />,
          },
          {
            label: 'Last seen',
            align: 'right',
            cell: ({ last_seen_at: at }) => <Moment at={at} now={now} />,
          },
          {
            label: 'Endpoints',
            align: 'right',
            cell: ({ name }) => (
              <a href={url(base, '/console/endpoints', { type: name })}>
                Subscribers<span class="unseen"> of {name}</span>
              </a>
            ),
          },
        ]}
        empty={
          prefix === '' ? (
            <EmptyState
              icon="eventTypes"
              sentence="No event types yet"
              next="An event type appears here with its first message. You don't need to declare it."
              curl={firstMessage(page.apiUrl)}
            />
          ) : (
            <EmptyState
              icon="eventTypes"
              sentence="No matching event types"
              action={
                <LinkButton href={url(base, '/console/event-types')}>
                  View all event types
                </LinkButton>
              }
            />
          )
        }
        pages={pagerLinks(page.position, cursor, (position) =>
          url(base, '/console/event-types', { q: prefix, ...position }),
        )}
      />
    </>
  )
}

function sentenceOn({ page, prefix }: Parameters<typeof EventTypesPage>[0]): string {
  const { data, has_more: hasMore } = page
  const like = prefix === '' ? '' : ` starting with ${shorten(prefix, 40)}`
  if (data.length === 0)
    return prefix === '' ? 'Event types of your messages' : `No event types${like}`
  const broken = data.filter(({ breaking_changes: changes }) => changes > 0).length
  const seen = hasMore
    ? `${data.length} event types on this page`
    : counted(data.length, 'event type')
  return `${seen}${like}, ${broken === 0 ? 'none' : broken} with breaking changes`
}
