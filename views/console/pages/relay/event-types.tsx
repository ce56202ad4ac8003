import type {
  EventTypeDetail,
  EventTypeSeen,
} from '../../../../src/engines/relay/model/event-types.ts'
import type { Page } from '../../../../src/platform/cursor.ts'
import { DataTable } from '../../data-table.tsx'
import { EmptyState } from '../../empty-state.tsx'
import { Facts } from '../../facts.tsx'
import { LinkButton } from '../../form/button.tsx'
import { JsonView } from '../../json-view.tsx'
import { PageHead } from '../../page-head.tsx'
import { Section } from '../../section.tsx'
import { StatusMark } from '../../status-mark.tsx'
import { Text } from '../../text.tsx'
import { url } from '../../url.ts'
import { ExactBody } from './exchange.tsx'
import { firstMessage } from './first-message.ts'
import { counted, Moment } from './state.tsx'

/** Which events there are, as they were seen. */
export const EventTypesPage = (page: {
  base: string
  apiUrl: string
  page: Page<EventTypeSeen>
  isFirst: boolean
  now: number
}) => {
  const { base, now } = page
  const { data, next_cursor: cursor } = page.page
  return (
    <>
      <PageHead title="Event types" state={{ sentence: sentenceOn(data, cursor !== null) }} />
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
          { label: 'Messages', align: 'right', cell: ({ count }) => count.toLocaleString('en') },
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
        ]}
        empty={
          <EmptyState
            icon="eventTypes"
            sentence="No event has been seen yet."
            next="A type is known from its first message on; there is nothing to declare."
            curl={firstMessage(page.apiUrl)}
          />
        }
        pages={{
          newerHref: page.isFirst ? undefined : url(base, '/console/event-types'),
          olderHref: cursor === null ? undefined : url(base, '/console/event-types', { cursor }),
        }}
      />
    </>
  )
}

function sentenceOn(types: readonly EventTypeSeen[], hasMore: boolean): string {
  if (types.length === 0) return 'What your programs send shows up here by itself.'
  const broken = types.filter(({ breaking_changes: changes }) => changes > 0).length
  const seen = hasMore ? `${types.length} types on this page` : counted(types.length, 'type')
  return broken === 0
    ? `${seen}, none with a payload that broke its shape`
    : `${seen}, ${broken} with a payload that broke its shape`
}

/** What is known of one type: when it came, what it carries and what has changed in that. */
export const EventTypePage = (page: {
  base: string
  detail: Omit<EventTypeDetail, 'sample'>
  sample: string | null
  now: number
}) => {
  const { base, detail, sample, now } = page
  return (
    <>
      <PageHead
        title={<Text text={detail.name} limit={80} />}
        state={{
          sentence: (
            <>
              {counted(detail.count, 'message')}, the last{' '}
              <Moment at={detail.last_seen_at} now={now} />.
            </>
          ),
        }}
        action={
          <LinkButton
            weight="primary"
            href={url(base, '/console/messages', { event_type: detail.name })}
          >
            See messages
          </LinkButton>
        }
      />
      <Section id="about" title="About" isCard>
        <Facts
          facts={[
            ['First seen', <Moment at={detail.first_seen_at} now={now} />],
            ['Last seen', <Moment at={detail.last_seen_at} now={now} />],
            ['Breaking changes', String(detail.breaking_changes)],
          ]}
        />
      </Section>
      {detail.drift.length > 0 && (
        <Section id="changes" title="Changes of its payload">
          <DataTable
            caption="Changes"
            rows={detail.drift}
            columns={[
              {
                label: 'Where',
                isMono: true,
                isWide: true,
                cell: ({ path }) => <Text text={path} />,
              },
              {
                label: 'Change',
                narrow: 'corner',
                cell: ({ change, breaking }) => (
                  <StatusMark tone={breaking ? 'warn' : 'quiet'} word={change} />
                ),
              },
              { label: 'Was', cell: ({ was }) => was ?? '–' },
              { label: 'Now', cell: ({ now: is }) => is ?? '–' },
              { label: 'When', align: 'right', cell: ({ at }) => <Moment at={at} now={now} /> },
            ]}
          />
        </Section>
      )}
      {sample !== null && (
        <Section id="sample" title="A payload as it came">
          <ExactBody title="Payload" text={sample} />
        </Section>
      )}
      <Section id="schema" title="Shape" note="as learnt from every payload so far">
        <JsonView title="JSON Schema" value={detail.schema} />
      </Section>
    </>
  )
}
