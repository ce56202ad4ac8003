import { LinkButton } from '../../../../views/ui/form/button.tsx'
import { Id } from '../../../../views/ui/id.tsx'
import { BodyView } from '../../../../views/ui/json.tsx'
import { Facts, PageHead, Section } from '../../../../views/ui/section.tsx'
import type { Tone } from '../../../../views/ui/status.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { counted, numeral } from '../../../../views/ui/words.ts'
import { STAGES, type Stage } from '../../../delivery/store/fan-out.ts'
import type { FanOut } from '../../../engines/relay/fan-out.ts'
import { page, usePage } from '../../page.tsx'
import { type MessageView, SentList, stageWord, UnreachedList } from './fan-out.tsx'
import { Moment } from './state.tsx'

/** Deliveries of a message per page. */
const ENDPOINTS_SHOWN = 50

/** One message: payload, deliveries, and endpoints that did not match. */
export const messagePage = page({
  path: '/messages/:id',
  section: 'messages',
  hasEnvironments: true,
  right: 'read',

  load({ relay, caller, environment, params, query, position }): MessageView {
    const stage = STAGES.find((one) => one === query.stage)
    const fanOut = relay.fanOutOf(caller('relay', environment), params.id, {
      limit: ENDPOINTS_SHOWN,
      stage,
      cursor: position.cursor,
      otherCursor: query.others || undefined,
    })
    return { fanOut, stage }
  },

  title: ({ fanOut }) => fanOut.message.event_type,

  view(view) {
    const { fanOut } = view
    const { href, query } = usePage()
    const { message, counts } = fanOut
    return (
      <>
        <PageHead
          title={<Text text={message.event_type} limit={80} />}
          state={{ tone: toneOf(counts), sentence: sentenceOn(fanOut) }}
          aside={
            <LinkButton href={href(`/event-types/${encodeURIComponent(message.event_type)}`)}>
              Event type
            </LinkButton>
          }
        />
        <Section id="payload" title="Payload">
          <BodyView title="Payload" text={fanOut.payload} />
        </Section>
        <Section id="endpoints" title="Delivered to">
          <div class="stack">
            <SentList {...view} />
            {fanOut.unreachedCount > 0 && (
              <UnreachedList {...view} isOpen={query.others !== undefined || sumOf(counts) === 0} />
            )}
          </div>
        </Section>
        <Section id="about" title="About" isCard>
          <Facts
            facts={[
              ['ID', <Id id={message.id} what="message ID" />],
              [
                'Event type',
                <a href={href('/messages', { event_type: message.event_type })}>
                  <Text text={message.event_type} />
                </a>,
              ],
              ['Received', <Moment at={message.timestamp} />],
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
  },
})

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
  const ends = rest.map((stage) => `, ${numeral(counts[stage])} ${stageWord(stage)}`).join('')
  return `Delivered to ${numeral(counts.delivered)} of ${counted(all, 'endpoint')}${ends}`
}
