import { LinkButton } from '../../../../views/ui/form/button.tsx'
import { BodyView, JsonView } from '../../../../views/ui/json.tsx'
import { Facts, PageHead, Section } from '../../../../views/ui/section.tsx'
import { StatusBadge } from '../../../../views/ui/status.tsx'
import { DataTable } from '../../../../views/ui/table.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { counted, numeral } from '../../../../views/ui/words.ts'
import { page, usePage } from '../../page.tsx'
import { Moment } from './state.tsx'

/** One event type: use, sample payload, payload changes and schema. */
export const eventTypePage = page({
  path: '/event-types/:name',
  section: 'eventTypes',
  hasEnvironments: true,
  right: 'read',

  load: ({ relay, caller, environment, params }) =>
    relay.eventTypes.get(caller('relay', environment), params.name),

  title: ({ detail }) => detail.name,

  view({ detail, sample }) {
    const { href, may } = usePage()
    const { name } = detail
    return (
      <>
        <PageHead
          title={<Text text={detail.name} limit={80} />}
          state={{
            sentence: (
              <>
                {counted(detail.count, 'message')}, last received{' '}
                <Moment at={detail.last_seen_at} />
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
        <Section id="schema" title="Schema" note="Inferred from all payloads so far.">
          <JsonView title="JSON Schema" value={detail.schema} />
        </Section>
      </>
    )
  },
})
