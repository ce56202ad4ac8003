import type { Endpoint } from '../../../../src/engines/relay/model/endpoints.ts'
import { Facts } from '../../facts.tsx'
import { Id } from '../../id.tsx'
import { Section } from '../../section.tsx'
import { LongText, Text } from '../../text.tsx'
import { url } from '../../url.ts'
import { capitalized } from '../../words.ts'
import { Moment } from './state.tsx'

/** Most event types shown. */
const MAX_TYPES = 20

/** Configuration of an endpoint. */
export const EndpointFacts = (of: {
  base: string
  endpoint: Endpoint
  overlapEnd: string | null
  now: number
}) => {
  const { endpoint, now } = of
  return (
    <Section id="about" title="About" isCard>
      <Facts
        facts={[
          ['URL', <LongText text={endpoint.url} />],
          ['Description', endpoint.description ? <LongText text={endpoint.description} /> : null],
          ['Event types', <EventTypes base={of.base} types={endpoint.event_types} />],
          ['Channels', <LongText text={endpoint.channels.join(', ') || 'All'} />],
          ['Format', capitalized(endpoint.format)],
          ...headersOf(endpoint),
          ['Signing secret', <Secrets {...of} />],
          ['ID', <Id id={endpoint.id} what="endpoint ID" />],
          ['Created', <Moment at={endpoint.created_at} now={now} />],
          ['Updated', <Moment at={endpoint.updated_at} now={now} />],
        ]}
      />
    </Section>
  )
}

/** Event types with links to their messages. Patterns have no link. */
const EventTypes = ({ base, types }: { base: string; types: readonly string[] | null }) =>
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
            <a href={url(base, '/console/messages', { event_type: type })}>
              <Text text={type} />
            </a>
          )}
        </>
      ))}
      {types.length > MAX_TYPES && ` and ${types.length - MAX_TYPES} more`}
    </>
  )

/** Number of active secrets: two during a rotation. */
const Secrets = ({ overlapEnd, now }: { overlapEnd: string | null; now: number }) =>
  overlapEnd === null ? (
    <>One active secret</>
  ) : (
    <>
      Two active secrets; the old one expires <Moment at={overlapEnd} now={now} />
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
