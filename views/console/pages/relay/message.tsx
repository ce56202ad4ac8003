import type { MessageDetail, Verdict } from '../../../../src/engines/relay/model/messages.ts'
import { type Delivery, STATUSES, type Status } from '../../../../src/http/delivery-log/model.ts'
import { DataTable } from '../../data-table.tsx'
import { Facts } from '../../facts.tsx'
import { LinkButton } from '../../form/button.tsx'
import { Id } from '../../id.tsx'
import { PageHead } from '../../page-head.tsx'
import { Section } from '../../section.tsx'
import { LongText, Text } from '../../text.tsx'
import type { Tone } from '../../tone.ts'
import { url } from '../../url.ts'
import { ExactBody } from './exchange.tsx'
import { counted, DELIVERY_TONES, DeliveryMark, Moment, WORDS, withoutScheme } from './state.tsx'

type Detail = Omit<MessageDetail, 'payload'>
interface Sent {
  verdict: Verdict
  delivery: Delivery
}

/** One message: what it carries, where it went, and where it did not and why. */
export const MessagePage = (page: {
  base: string
  detail: Detail
  payload: string
  deliveries: readonly Delivery[]
  now: number
}) => {
  const { base, detail, now } = page
  const byId = new Map(page.deliveries.map((delivery) => [delivery.id, delivery]))
  const sent = detail.endpoints.flatMap((verdict): Sent[] => {
    const delivery = verdict.delivery_id === null ? undefined : byId.get(verdict.delivery_id)
    return delivery ? [{ verdict, delivery }] : []
  })
  const others = detail.endpoints.filter(({ delivery_id: id }) => id === null)
  return (
    <>
      <PageHead
        title={<Text text={detail.event_type} limit={80} />}
        state={{ tone: toneOf(sent), sentence: sentenceOn(sent, others) }}
        aside={
          <LinkButton
            href={url(base, `/console/event-types/${encodeURIComponent(detail.event_type)}`)}
          >
            Event type
          </LinkButton>
        }
      />
      <Section id="about" title="About" isCard>
        <Facts
          facts={[
            ['Id', <Id id={detail.id} what="message id" />],
            ['Accepted', <Moment at={detail.timestamp} now={now} />],
            [
              'Channels',
              detail.channels.length === 0 ? 'none' : <Text text={detail.channels.join(', ')} />,
            ],
            ...(detail.idempotency_key === null
              ? []
              : [['Idempotency key', <Text text={detail.idempotency_key} />] as const]),
          ]}
        />
      </Section>
      <Section id="payload" title="Payload">
        <ExactBody title="Payload" text={page.payload} />
      </Section>
      <Section id="endpoints" title="Where it went">
        <div class="stack">
          <DataTable
            caption="Where it went"
            rows={sent}
            hrefOf={({ delivery }) => url(base, `/console/deliveries/${delivery.id}`)}
            columns={[
              {
                label: 'Endpoint',
                isWide: true,
                cell: ({ verdict }) => (
                  <Text text={withoutScheme(verdict.url ?? 'deleted since')} />
                ),
              },
              {
                label: 'State',
                narrow: 'corner',
                cell: ({ delivery }) => <DeliveryMark status={delivery.status} />,
              },
              {
                label: 'Attempts',
                align: 'right',
                cell: ({ delivery }) => delivery.attempts.toLocaleString('en'),
              },
              {
                label: 'Next',
                align: 'right',
                cell: ({ delivery }) => <Moment at={delivery.next_attempt_at} now={now} />,
              },
              {
                label: 'Created',
                align: 'right',
                cell: ({ delivery }) => <Moment at={delivery.created_at} now={now} />,
              },
            ]}
            empty={<p class="quietline">It went nowhere.</p>}
          />
          {others.length > 0 && (
            <NotSent base={base} verdicts={others} isOpen={sent.length === 0} />
          )}
        </div>
      </Section>
    </>
  )
}

/** Folded where it went somewhere: whoever asks why it did not, asks about one that is not above. */
const NotSent = (list: { base: string; verdicts: readonly Verdict[]; isOpen: boolean }) => (
  <details class="fold" open={list.isOpen}>
    <summary>
      Where it did not go <span class="hint">{counted(list.verdicts.length, 'endpoint')}</span>
    </summary>
    <DataTable
      caption="Where it did not go"
      rows={list.verdicts}
      hrefOf={({ endpoint_id: id }) => url(list.base, `/console/endpoints/${id}`)}
      columns={[
        {
          label: 'Endpoint',
          isWide: true,
          cell: ({ url: address, endpoint_id: id }) => <Text text={withoutScheme(address ?? id)} />,
        },
        { label: 'Why', isWide: true, cell: ({ reason }) => <LongText text={reason} /> },
      ]}
    />
  </details>
)

const ORDER: readonly Tone[] = ['bad', 'warn', 'busy', 'quiet', 'good']

const toneOf = (sent: readonly Sent[]): Tone =>
  ORDER.find((tone) => sent.some(({ delivery }) => DELIVERY_TONES[delivery.status] === tone)) ??
  'quiet'

function sentenceOn(sent: readonly Sent[], others: readonly Verdict[]): string {
  if (sent.length === 0)
    return others.length === 0
      ? 'It went nowhere: there is no endpoint.'
      : `It went to none of ${counted(others.length, 'endpoint')}; why not is said below.`
  const count = (status: Status) => sent.filter(({ delivery }) => delivery.status === status).length
  const rest = STATUSES.filter((status) => status !== 'succeeded' && count(status) > 0)
  const ends = rest.map((status) => `, ${count(status)} ${WORDS[status]}`).join('')
  return `Delivered to ${count('succeeded')} of ${counted(sent.length, 'endpoint')}${ends}.`
}
