import type { EventTypeDetail } from '../../../../src/engines/relay/model/event-types.ts'
import { DataTable } from '../../data-table.tsx'
import { Facts } from '../../facts.tsx'
import { LinkButton } from '../../form/button.tsx'
import { BodyView, JsonView } from '../../json-view.tsx'
import { PageHead } from '../../page-head.tsx'
import { Section } from '../../section.tsx'
import { StatusBadge } from '../../status-badge.tsx'
import { Text } from '../../text.tsx'
import { url } from '../../url.ts'
import { counted } from '../../words.ts'
import { Moment } from './state.tsx'

/** One event type: use, sample payload, payload changes and schema. */
export const EventTypePage = (page: {
  base: string
  detail: Omit<EventTypeDetail, 'sample'>
  /** Sample payload, as sent. */
  sample: string | null
  mayChange: boolean
  now: number
}) => {
  const { base, detail, sample, now } = page
  const { name } = detail
  return (
    <>
      <PageHead
        title={<Text text={detail.name} limit={80} />}
        state={{
          sentence: (
            <>
              {counted(detail.count, 'message')}, last received{' '}
              <Moment at={detail.last_seen_at} now={now} />
            </>
          ),
        }}
        aside={
          <>
            <LinkButton href={url(base, '/console/endpoints', { type: name })}>
              Subscribers
            </LinkButton>
            <LinkButton href={url(base, '/console/messages', { event_type: name })}>
              View messages
            </LinkButton>
          </>
        }
        action={
          page.mayChange && (
            <LinkButton
              weight="primary"
              href={url(base, '/console/endpoints/new', { event_types: name })}
            >
              Create endpoint
            </LinkButton>
          )
        }
      />
      <Section id="about" title="About" isCard>
        <Facts
          facts={[
            ['Messages', detail.count.toLocaleString('en')],
            ['First seen', <Moment at={detail.first_seen_at} now={now} />],
            ['Last seen', <Moment at={detail.last_seen_at} now={now} />],
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
              { label: 'Time', align: 'right', cell: ({ at }) => <Moment at={at} now={now} /> },
            ]}
          />
        </Section>
      )}
      <Section id="schema" title="Schema" note="Inferred from all payloads so far.">
        <JsonView title="JSON Schema" value={detail.schema} />
      </Section>
    </>
  )
}
