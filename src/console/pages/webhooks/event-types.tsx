import { EmptyState } from '../../../../views/ui/empty-state.tsx'
import { LinkButton } from '../../../../views/ui/form/button.tsx'
import { BodyView, JsonView } from '../../../../views/ui/json.tsx'
import { Facts, PageHead, Section } from '../../../../views/ui/section.tsx'
import { sortingIn } from '../../../../views/ui/sorting.ts'
import { StatusBadge } from '../../../../views/ui/status.tsx'
import { DataTable } from '../../../../views/ui/table.tsx'
import { shorten, Text } from '../../../../views/ui/text.tsx'
import { counted, numeral } from '../../../../views/ui/words.ts'
import type { EventTypeView } from '../../../engines/relay/event-types.ts'
import type { EventTypeSeen } from '../../../engines/relay/model/event-types.ts'
import type { Page } from '../../../platform/cursor.ts'
import { ExportMenu, exportOf, pagesOf } from '../../export.tsx'
import { ListFilters, useList } from '../../list.tsx'
import { type PageContext, page, usePage } from '../../page.tsx'
import { firstMessage } from './messages.tsx'
import { Moment } from './state.tsx'

const ON_A_PAGE = 50
const SORTS = { name: 'asc', last_seen: 'desc' } as const

/** Event types of all messages so far, and below the first of them the built-in types. */
export const eventTypeList = page({
  path: '/event-types',
  section: 'eventTypes',
  hasEnvironments: true,
  right: 'read',
  title: 'Event types',

  load: (context) => ({
    found: found(context, { limit: ON_A_PAGE, cursor: context.position.cursor }),
    prefix: context.query.q ?? '',
    builtIn: builtInTypes(context),
  }),

  view({ found, prefix, builtIn }) {
    const { href, baseUrl } = usePage()
    const { allHref, isFiltered, pagesTo, sortedBy } = useList()
    const { data, next_cursor: next } = found
    return (
      <>
        <PageHead
          title="Event types"
          state={{ sentence: sentenceOn(found, prefix) }}
          aside={data.length > 0 && <ExportMenu />}
        />
        {(data.length > 0 || isFiltered) && <ListFilters search={{ label: 'Search by prefix' }} />}
        <DataTable
          caption="Event types"
          rows={data}
          hrefOf={({ name }) => href(`/event-types/${encodeURIComponent(name)}`)}
          idOf={({ name }) => name}
          columns={[
            {
              label: 'Type',
              isMono: true,
              isWide: true,
              sort: 'name',
              cell: ({ name }) => <Text text={name} />,
            },
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
                <a href={href('/messages', { event_type: name })}>
                  {numeral(count)}
                  <span class="unseen"> messages of {name}</span>
                </a>
              ),
            },
            {
              label: 'First seen',
              align: 'right',
              cell: ({ first_seen_at: at }) => <Moment at={at} />,
            },
            {
              label: 'Last seen',
              align: 'right',
              sort: 'last_seen',
              cell: ({ last_seen_at: at }) => <Moment at={at} />,
            },
            {
              label: 'Endpoints',
              align: 'right',
              cell: ({ name }) => (
                <a href={href('/endpoints', { type: name })}>
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
                curl={firstMessage(baseUrl())}
              />
            ) : (
              <EmptyState
                icon="eventTypes"
                sentence="No matching event types"
                action={<LinkButton href={allHref}>View all event types</LinkButton>}
              />
            )
          }
          pages={pagesTo(next, { isByTime: false })}
          sorting={sortedBy(SORTS)}
        />
        {builtIn.length > 0 && <BuiltInTypes types={builtIn} />}
      </>
    )
  },

  files: {
    export: exportOf({
      name: 'event-types',
      columns: {
        name: ({ name }) => name,
        messages: ({ count }) => count,
        breaking_changes: (type) => type.breaking_changes,
        first_seen_at: (type) => type.first_seen_at,
        last_seen_at: (type) => type.last_seen_at,
      },
      slices: (context: PageContext) => pagesOf((of) => found(context, of)),
    }),
  },
})

/** Event types that match the search of the query string, in its order. */
const found = (
  { relay, caller, environment, query }: PageContext,
  of: { cursor: string | undefined; limit: number },
) =>
  relay.eventTypes.list(caller('relay', environment), {
    ...of,
    ...sortingIn(query.sort, SORTS),
    prefix: query.q,
  })

/** Built-in types, unless the page shows only some types. */
function builtInTypes({ relay, caller, environment, query, position }: PageContext) {
  if (query.q || position.cursor) return []
  return relay.eventTypes.builtIn(caller('relay', environment))
}

/** The types of events that Gatehouse sends, with what they report. */
function BuiltInTypes({ types }: { types: readonly EventTypeView[] }) {
  const { href } = usePage()
  return (
    <Section
      id="built-in"
      title="Built-in event types"
      note="Events from Gatehouse, for endpoints that list their type. All event types (*) doesn't include them."
    >
      <DataTable
        caption="Built-in event types"
        rows={types}
        hrefOf={({ detail }) => href(`/event-types/${detail.name}`)}
        columns={[
          { label: 'Type', isMono: true, cell: ({ detail }) => detail.name },
          { label: 'Sent when', isWide: true, cell: ({ description }) => description },
          { label: 'Messages', align: 'right', cell: ({ detail }) => numeral(detail.count) },
          {
            label: 'Endpoints',
            align: 'right',
            cell: ({ detail }) => (
              <a href={href('/endpoints', { type: detail.name })}>
                Subscribers<span class="unseen"> of {detail.name}</span>
              </a>
            ),
          },
        ]}
      />
    </Section>
  )
}

function sentenceOn({ data, has_more: hasMore }: Page<EventTypeSeen>, prefix: string): string {
  const like = prefix === '' ? '' : ` starting with ${shorten(prefix, 40)}`
  if (data.length === 0)
    return prefix === '' ? 'Event types of your messages' : `No event types${like}`
  const broken = data.filter(({ breaking_changes: changes }) => changes > 0).length
  const seen = hasMore
    ? `${data.length} event types on this page`
    : counted(data.length, 'event type')
  return `${seen}${like}, ${broken === 0 ? 'none' : broken} with breaking changes`
}

/** One event type: use, sample payload, payload changes and schema. */
export const eventTypePage = page({
  path: '/event-types/:name',
  section: 'eventTypes',
  hasEnvironments: true,
  right: 'read',

  load: ({ relay, caller, environment, params }) =>
    relay.eventTypes.get(caller('relay', environment), params.name),

  title: ({ detail }) => detail.name,

  view({ detail, description, sample }) {
    const { href, may } = usePage()
    const { name } = detail
    return (
      <>
        <PageHead
          title={<Text text={detail.name} limit={80} />}
          state={{
            sentence: (
              <>
                {counted(detail.count, 'message')}
                {detail.last_seen_at !== null && (
                  <>
                    , last received <Moment at={detail.last_seen_at} />
                  </>
                )}
              </>
            ),
          }}
          aside={
            <>
              <LinkButton href={href('/endpoints', { type: name })}>Subscribers</LinkButton>
              <LinkButton href={href('/messages', { event_type: name })}>View messages</LinkButton>
            </>
          }
          action={
            may('change') && (
              <LinkButton weight="primary" href={href('/endpoints/new', { event_types: name })}>
                Create endpoint
              </LinkButton>
            )
          }
        />
        <Section id="about" title="About" isCard>
          <Facts
            facts={[
              ...(description ? [['Sent when', description] as const] : []),
              ['Messages', numeral(detail.count)],
              ['First seen', <Moment at={detail.first_seen_at} />],
              ['Last seen', <Moment at={detail.last_seen_at} />],
              ['Breaking changes', String(detail.breaking_changes)],
            ]}
          />
        </Section>
        {sample !== null && (
          <Section id="sample" title="Sample payload">
            <BodyView title="Payload" text={sample} />
          </Section>
        )}
        {detail.drift.length > 0 && (
          <Section id="changes" title="Payload changes">
            <DataTable
              caption="Changes"
              rows={detail.drift}
              columns={[
                {
                  label: 'Path',
                  isMono: true,
                  isWide: true,
                  cell: ({ path }) => <Text text={path} />,
                },
                {
                  label: 'Change',
                  narrow: 'corner',
                  cell: ({ change, breaking }) => (
                    <StatusBadge tone={breaking ? 'warn' : 'quiet'} word={change} />
                  ),
                },
                { label: 'Before', cell: ({ was }) => was ?? '–' },
                { label: 'After', cell: ({ now: is }) => is ?? '–' },
                { label: 'Time', align: 'right', cell: ({ at }) => <Moment at={at} /> },
              ]}
            />
          </Section>
        )}
        <Section
          id="schema"
          title="Schema"
          note={detail.built_in ? 'Defined by Gatehouse.' : 'Inferred from all payloads so far.'}
        >
          <JsonView title="JSON Schema" value={detail.schema} />
        </Section>
      </>
    )
  },
})
