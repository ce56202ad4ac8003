import { STAGES, type Stage } from '../../../../src/delivery/store/fan-out.ts'
import type { FanOut } from '../../../../src/engines/relay/fan-out.ts'
import { Facts } from '../../facts.tsx'
import { LinkButton } from '../../form/button.tsx'
import { Id } from '../../id.tsx'
import { BodyView } from '../../json-view.tsx'
import type { ListPosition } from '../../list-position.ts'
import { PageHead } from '../../page-head.tsx'
import { Section } from '../../section.tsx'
import { Text } from '../../text.tsx'
import type { Tone } from '../../tone.ts'
import { url } from '../../url.ts'
import { counted } from '../../words.ts'
import { SentList, stageWord, UnreachedList } from './fan-out.tsx'
import { Moment } from './state.tsx'

/** One message: payload, deliveries, and endpoints that did not match. */
export const MessagePage = (page: {
  base: string
  fanOut: FanOut
  /** Filter of the deliveries. */
  stage: Stage | undefined
  position: ListPosition
  /** The list of other endpoints is on a later page. */
  isAmongOthers: boolean
  now: number
}) => {
  const { base, fanOut, now } = page
  const { message, counts } = fanOut
  return (
    <>
      <PageHead
        title={<Text text={message.event_type} limit={80} />}
        state={{ tone: toneOf(counts), sentence: sentenceOn(fanOut) }}
        aside={
          <LinkButton
            href={url(base, `/console/event-types/${encodeURIComponent(message.event_type)}`)}
          >
            Event type
          </LinkButton>
        }
      />
      <Section id="payload" title="Payload">
        <BodyView title="Payload" text={fanOut.payload} />
      </Section>
      <Section id="endpoints" title="Delivered to">
        <div class="stack">
          <SentList {...page} />
          {fanOut.unreachedCount > 0 && (
            <UnreachedList {...page} isOpen={page.isAmongOthers || sumOf(counts) === 0} />
          )}
        </div>
      </Section>
      <Section id="about" title="About" isCard>
        <Facts
          facts={[
            ['ID', <Id id={message.id} what="message ID" />],
            [
              'Event type',
              <a href={url(base, '/console/messages', { event_type: message.event_type })}>
                <Text text={message.event_type} />
              </a>,
            ],
            ['Received', <Moment at={message.timestamp} now={now} />],
            [
              'Channels',
              message.channels.length === 0 ? 'All' : <Text text={message.channels.join(', ')} />,
            ],
            ...(message.idempotency_key === null
              ? []
              : [['Idempotency key', <Text text={message.idempotency_key} />] as const]),
          ]}
        />
      </Section>
    </>
  )
}

const TONES: Record<Stage, Tone> = {
  failed: 'bad',
  retrying: 'warn',
  held: 'warn',
  'under way': 'busy',
  cancelled: 'quiet',
  delivered: 'good',
}

/** Tone of the worst stage. */
const toneOf = (counts: FanOut['counts']): Tone =>
  TONES[STAGES.find((stage) => counts[stage] > 0) ?? 'cancelled']

const sumOf = (counts: FanOut['counts']): number =>
  STAGES.reduce((sum, stage) => sum + counts[stage], 0)

function sentenceOn({ counts, unreachedCount }: FanOut): string {
  const all = sumOf(counts)
  if (all === 0)
    return unreachedCount === 0
      ? 'Not delivered: there are no endpoints'
      : `Not delivered to any of ${counted(unreachedCount, 'endpoint')}. See the reasons below.`
  const rest = STAGES.filter((stage) => stage !== 'delivered' && counts[stage] > 0)
  const ends = rest
    .map((stage) => `, ${counts[stage].toLocaleString('en')} ${stageWord(stage)}`)
    .join('')
  return `Delivered to ${counts.delivered.toLocaleString('en')} of ${counted(all, 'endpoint')}${ends}`
}
