import type { Endpoint } from '../../../../src/engines/relay/model/endpoints.ts'
import { Facts } from '../../facts.tsx'
import { Id } from '../../id.tsx'
import { Section } from '../../section.tsx'
import { LongText, Text } from '../../text.tsx'
import { url } from '../../url.ts'
import { Moment } from './state.tsx'

/** More are told apart where they are edited. */
const MOST_TYPES = 20

/** What an endpoint is, as somebody has set it up. */
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
          ['Events', <EventTypes base={of.base} types={endpoint.event_types} />],
          ['Channels', <LongText text={endpoint.channels.join(', ') || 'all'} />],
          ['Body', endpoint.format],
          ...headersOf(endpoint),
          ['Signed with', <Secrets {...of} />],
          ['Id', <Id id={endpoint.id} what="endpoint id" />],
          ['Created', <Moment at={endpoint.created_at} now={now} />],
          ['Changed', <Moment at={endpoint.updated_at} now={now} />],
        ]}
      />
    </Section>
  )
}

/** Each leads to its messages; a pattern stands for many and leads nowhere. */
const EventTypes = ({ base, types }: { base: string; types: readonly string[] | null }) =>
  types === null ? (
    <>all events</>
  ) : (
    <>
      {types.slice(0, MOST_TYPES).map((type, place) => (
        <>
          {place > 0 && ', '}
          {type.includes('*') ? (
            <Text text={type} />
          ) : (
            <a href={url(base, '/console/messages', { event_type: type })}>
              <Text text={type} />
            </a>
          )}
        </>
      ))}
      {types.length > MOST_TYPES && ` and ${types.length - MOST_TYPES} more`}
    </>
  )

/** Two while receivers change over from one to the other: how long, counts down by itself. */
const Secrets = ({ overlapEnd, now }: { overlapEnd: string | null; now: number }) =>
  overlapEnd === null ? (
    <>one secret</>
  ) : (
    <>
      two secrets; the one before ends <Moment at={overlapEnd} now={now} />
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
