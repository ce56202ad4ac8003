import type { EventTypeDetail } from '../../../../src/engines/relay/model/event-types.ts'
import { DataTable } from '../../data-table.tsx'
import { Facts } from '../../facts.tsx'
import { LinkButton } from '../../form/button.tsx'
import { BodyView, JsonView } from '../../json-view.tsx'
import { PageHead } from '../../page-head.tsx'
import { Section } from '../../section.tsx'
import { StatusMark } from '../../status-mark.tsx'
import { Text } from '../../text.tsx'
import { url } from '../../url.ts'
import { counted } from '../../words.ts'
import { Moment } from './state.tsx'

/** What is known of one type: when it came, what it carries and what has changed in that. */
export const EventTypePage = (page: {
  base: string
  detail: Omit<EventTypeDetail, 'sample'>
  /** As it was spelled. */
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
              {counted(detail.count, 'message')}, the last{' '}
              <Moment at={detail.last_seen_at} now={now} />.
            </>
          ),
        }}
        aside={
          <>
            <LinkButton href={url(base, '/console/endpoints', { type: name })}>
              Who listens
            </LinkButton>
            <LinkButton href={url(base, '/console/messages', { event_type: name })}>
              See messages
            </LinkButton>
          </>
        }
        action={
          page.mayChange && (
            <LinkButton
              weight="primary"
              href={url(base, '/console/endpoints/new', { event_types: name })}
            >
              New endpoint for it
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
        <Section id="sample" title="A payload as it came">
          <BodyView title="Payload" text={sample} />
        </Section>
      )}
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
      <Section id="schema" title="Shape" note="as learnt from every payload so far">
        <JsonView title="JSON Schema" value={detail.schema} />
      </Section>
    </>
  )
}
