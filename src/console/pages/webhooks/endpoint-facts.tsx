import { Id } from '../../../../views/ui/id.tsx'
import { Facts, Section } from '../../../../views/ui/section.tsx'
import { LongText, Text } from '../../../../views/ui/text.tsx'
import { capitalized } from '../../../../views/ui/words.ts'
import type { Endpoint } from '../../../engines/relay/model/endpoints.ts'
import { usePage } from '../../page.tsx'
import { Moment } from './state.tsx'

/** Most event types shown. */
const MAX_TYPES = 20

/** Configuration of an endpoint. */
export const EndpointFacts = (of: { endpoint: Endpoint; overlapEnd: string | null }) => {
  const { endpoint } = of
  return (
    <Section id="about" title="About" isCard>
      <Facts
        facts={[
          ['URL', <LongText text={endpoint.url} />],
          ['Description', endpoint.description ? <LongText text={endpoint.description} /> : null],
          ['Event types', <EventTypes types={endpoint.event_types} />],
          ['Channels', <LongText text={endpoint.channels.join(', ') || 'All'} />],
          ['Format', capitalized(endpoint.format)],
          ...headersOf(endpoint),
          ['Signing secret', <Secrets {...of} />],
          ['ID', <Id id={endpoint.id} what="endpoint ID" />],
          ['Created', <Moment at={endpoint.created_at} />],
          ['Updated', <Moment at={endpoint.updated_at} />],
        ]}
      />
    </Section>
  )
}

/** Event types with links to their messages. Patterns have no link. */
const EventTypes = ({ types }: { types: readonly string[] | null }) =>
  types === null ? (
    <>All event types</>
  ) : (
    <>
      {types.slice(0, MAX_TYPES).map((type, index) => (
        <>
          {index > 0 && ', '}
          {type.includes('*') ? (
            <Text text={type} />
          ) : (
            <a href={usePage().href('/messages', { event_type: type })}>
              <Text text={type} />
            </a>
          )}
        </>
      ))}
      {types.length > MAX_TYPES && ` and ${types.length - MAX_TYPES} more`}
    </>
  )

/** Number of active secrets: two during a rotation. */
const Secrets = ({ overlapEnd }: { overlapEnd: string | null }) =>
  overlapEnd === null ? (
    <>One active secret</>
  ) : (
    <>
      Two active secrets; the old one expires <Moment at={overlapEnd} />
    </>
  )

const headersOf = ({ headers }: Endpoint) =>
  Object.keys(headers).length === 0
    ? []
    : ([
        [
          'Headers',
          <LongText
            text={Object.entries(headers)
              .map(([name, value]) => `${name}: ${value}`)
              .join('\n')}
          />,
        ],
      ] as const)
