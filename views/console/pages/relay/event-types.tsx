import type { EventTypeSeen } from '../../../../src/engines/relay/model/event-types.ts'
import type { Page } from '../../../../src/platform/cursor.ts'
import { DataTable } from '../../data-table.tsx'
import { EmptyState } from '../../empty-state.tsx'
import { FilterBar } from '../../filter-bar.tsx'
import { LinkButton } from '../../form/button.tsx'
import { PageHead } from '../../page-head.tsx'
import { StatusMark } from '../../status-mark.tsx'
import { shorten, Text } from '../../text.tsx'
import { type ListPlace, pagesAlong } from '../../trail.ts'
import { url } from '../../url.ts'
import { counted } from '../../words.ts'
import { firstMessage } from './first-message.ts'
import { Moment } from './state.tsx'

/** Which events there are, as they were seen. */
export const EventTypesPage = (page: {
  base: string
  apiUrl: string
  page: Page<EventTypeSeen>
  /** How the names of those shown begin. */
  prefix: string
  place: ListPlace
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
          search={{ label: 'Begins with', value: prefix }}
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
            label: 'Payload',
            narrow: 'corner',
            cell: ({ breaking_changes: changes }) =>
              changes === 0 ? (
                <StatusMark tone="good" word="steady" />
              ) : (
                <StatusMark tone="warn" word="changed" />
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
                Who listens<span class="unseen"> to {name}</span>
              </a>
            ),
          },
        ]}
        empty={
          prefix === '' ? (
            <EmptyState
              icon="eventTypes"
              sentence="No event has been seen yet."
              next="A type is known from its first message on; there is nothing to declare."
              curl={firstMessage(page.apiUrl)}
            />
          ) : (
            <EmptyState
              icon="eventTypes"
              sentence="No type begins like that."
              action={<LinkButton href={url(base, '/console/event-types')}>Show all</LinkButton>}
            />
          )
        }
        pages={pagesAlong(page.place, cursor, (place) =>
          url(base, '/console/event-types', { q: prefix, ...place }),
        )}
      />
    </>
  )
}

function sentenceOn({ page, prefix }: Parameters<typeof EventTypesPage>[0]): string {
  const { data, has_more: hasMore } = page
  const like = prefix === '' ? '' : ` that begin with ${shorten(prefix, 40)}`
  if (data.length === 0)
    return prefix === '' ? 'What your programs send shows up here by itself.' : `No types${like}.`
  const broken = data.filter(({ breaking_changes: changes }) => changes > 0).length
  const seen = hasMore ? `${data.length} types on this page` : counted(data.length, 'type')
  return `${seen}${like}, ${broken === 0 ? 'none' : broken} with a payload that broke its shape.`
}
