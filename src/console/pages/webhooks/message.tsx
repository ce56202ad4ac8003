import { LinkButton } from '../../../../views/ui/form/button.tsx'
import { Id } from '../../../../views/ui/id.tsx'
import { BodyView } from '../../../../views/ui/json.tsx'
import { Facts, PageHead, Section } from '../../../../views/ui/section.tsx'
import type { Tone } from '../../../../views/ui/status.tsx'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { LongText, Text } from '../../../../views/ui/text.tsx'
import { capitalized, counted, numeral, withoutScheme } from '../../../../views/ui/words.ts'
import { STAGES, type Stage } from '../../../delivery/queries.ts'
import type { FanOut, SentSummary } from '../../../engines/relay/fan-out.ts'
import { useSelection } from '../../bulk.ts'
import { ListChips, useList } from '../../list.tsx'
import { page, usePage } from '../../page.tsx'
import { deliveryBulk, relayLogOf } from './delivery-list.tsx'
import { DeliveryBadge, Moment } from './state.tsx'

/** Deliveries of a message per page. */
const ENDPOINTS_SHOWN = 50

const BULK = deliveryBulk(relayLogOf)

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

  actions: BULK,
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

interface MessageView {
  fanOut: FanOut
  /** Filter of the deliveries. */
  stage: Stage | undefined
}

/** Filters are shown for more deliveries than this. */
const FEW = 10

/** Deliveries of a message, problems first. */
function SentList({ fanOut, stage }: MessageView) {
  const { href } = usePage()
  const { pagesTo } = useList()
  const { counts, sent } = fanOut
  const all = sumOf(counts)
  return (
    <>
      {all > FEW && (
        <ListChips
          name="stage"
          all={all}
          chips={STAGES.filter((one) => counts[one] > 0 || one === stage).map((value) => ({
            value,
            label: capitalized(stageWord(value)),
            count: counts[value],
            tone: TONES[value],
          }))}
        />
      )}
      <DataTable
        caption="Delivered to"
        rows={sent.data}
        idOf={({ id }) => id}
        hrefOf={({ id }) => href(`/deliveries/${id}`)}
        columns={COLUMNS}
        empty={<p class="quietrow">{all === 0 ? 'No deliveries' : 'No matching deliveries'}</p>}
        pages={pagesTo(sent.next_cursor)}
        selection={useSelection(BULK)}
      />
    </>
  )
}

/** Name of a stage for people. */
const stageWord = (stage: Stage): string => (stage === 'under way' ? 'in progress' : stage)

/** Columns of deliveries, with links to the delivery and to the endpoint. */
const COLUMNS: Column<SentSummary>[] = [
  {
    label: 'Delivery',
    isWide: true,
    cell: ({ url: address }) => (
      <Text text={address === null ? 'Deleted endpoint' : withoutScheme(address)} />
    ),
  },
  { label: 'Status', narrow: 'corner', cell: ({ status }) => <DeliveryBadge status={status} /> },
  { label: 'Attempts', align: 'right', cell: ({ attempts }) => numeral(attempts) },
  {
    label: 'Next attempt or end',
    align: 'right',
    cell: ({ next_attempt_at: next, ended_at: end }) => <Moment at={next ?? end} />,
  },
  {
    label: 'Endpoint',
    align: 'right',
    cell: ({ url: address, endpoint_id: id }) =>
      address === null ? (
        '–'
      ) : (
        <a href={usePage().href(`/endpoints/${id}`)}>
          View<span class="unseen"> the endpoint {withoutScheme(address)}</span>
        </a>
      ),
  },
]

/** Endpoints that the message was not sent to, with reasons. Collapsed if there are deliveries. */
function UnreachedList({ fanOut, isOpen }: MessageView & { isOpen: boolean }) {
  const { href } = usePage()
  const { hrefOf } = useList()
  const { unreached, unreachedCount } = fanOut
  const next = unreached.next_cursor
  return (
    <details class="fold" open={isOpen} id="others">
      <summary>
        Not delivered to <span class="hint">{counted(unreachedCount, 'endpoint')}</span>
      </summary>
      <DataTable
        caption="Not delivered to"
        rows={unreached.data}
        hrefOf={({ endpoint_id: id }) => href(`/endpoints/${id}`)}
        columns={[
          {
            label: 'Endpoint',
            isWide: true,
            cell: ({ url: address, endpoint_id: id }) => (
              <Text text={withoutScheme(address ?? id)} />
            ),
          },
          {
            label: 'Reason',
            isWide: true,
            cell: ({ reason }) => <LongText text={capitalized(reason)} />,
          },
        ]}
        pages={{
          extent: `${unreached.data.length} of ${numeral(unreachedCount)}`,
          olderHref: next === null ? undefined : `${hrefOf({ others: next })}#others`,
        }}
      />
    </details>
  )
}
