import { STAGES, type Stage } from '../../../../src/delivery/store/fan-out.ts'
import type { FanOut, SentLook } from '../../../../src/engines/relay/fan-out.ts'
import { type Column, DataTable } from '../../data-table.tsx'
import { FilterChips } from '../../tabs.tsx'
import { LongText, Text } from '../../text.tsx'
import { type ListPlace, pagesAlong } from '../../trail.ts'
import { url } from '../../url.ts'
import { counted, withoutScheme } from '../../words.ts'
import { DeliveryMark, Moment } from './state.tsx'

interface Look {
  base: string
  fanOut: FanOut
  stage: Stage | undefined
  place: ListPlace
  now: number
}

/** Chips are of use from here on: fewer rows are seen at once. */
const FEW = 10

/** Where it went, one row an endpoint: what needs somebody first. */
export const SentList = (list: Look) => {
  const { base, fanOut, stage, place, now } = list
  const { counts, sent } = fanOut
  const all = STAGES.reduce((sum, one) => sum + counts[one], 0)
  const href = ({ stage, cursor, trail }: { stage?: Stage | undefined } & ListPlace) =>
    url(base, `/console/messages/${fanOut.message.id}`, { stage, cursor, trail })
  return (
    <>
      {all > FEW && (
        <FilterChips
          label="State"
          tabs={[
            { label: 'All', href: href({}), count: all, isCurrent: stage === undefined },
            ...STAGES.filter((one) => counts[one] > 0 || one === stage).map((one) => ({
              label: one.charAt(0).toUpperCase() + one.slice(1),
              href: href({ stage: one }),
              count: counts[one],
              isCurrent: one === stage,
              ...(one === 'failed' && { tone: 'bad' as const }),
            })),
          ]}
        />
      )}
      <DataTable
        caption="Where it went"
        rows={sent.data}
        idOf={({ id }) => id}
        hrefOf={({ id }) => url(base, `/console/deliveries/${id}`)}
        columns={sentColumns(base, now)}
        empty={
          <p class="quietline">{all === 0 ? 'It went nowhere.' : 'No delivery is like that.'}</p>
        }
        pages={pagesAlong(place, sent.next_cursor, (at) => href({ stage, ...at }))}
      />
    </>
  )
}

/** The row leads to the delivery, and beside it a link to the endpoint. */
const sentColumns = (base: string, now: number): Column<SentLook>[] => [
  {
    label: 'Delivery',
    isWide: true,
    cell: ({ url: address }) => (
      <Text text={address === null ? 'to an endpoint deleted since' : withoutScheme(address)} />
    ),
  },
  {
    label: 'State',
    narrow: 'corner',
    cell: ({ status }) => <DeliveryMark status={status} />,
  },
  {
    label: 'Attempts',
    align: 'right',
    cell: ({ attempts }) => attempts.toLocaleString('en'),
  },
  {
    label: 'Next or end',
    align: 'right',
    cell: ({ next_attempt_at: next, ended_at: end }) => <Moment at={next ?? end} now={now} />,
  },
  {
    label: 'Endpoint',
    align: 'right',
    cell: ({ url: address, endpoint_id: id }) =>
      address === null ? (
        '–'
      ) : (
        <a href={url(base, `/console/endpoints/${id}`)}>
          Open<span class="unseen"> the endpoint {withoutScheme(address)}</span>
        </a>
      ),
  },
]

/** Folded where it went somewhere: whoever asks why it did not, asks about one that is not above. */
export const UnreachedList = ({ base, fanOut, isOpen }: Look & { isOpen: boolean }) => {
  const { unreached, unreachedCount, message } = fanOut
  const next = unreached.next_cursor
  return (
    <details class="fold" open={isOpen} id="others">
      <summary>
        Where it did not go <span class="hint">{counted(unreachedCount, 'endpoint')}</span>
      </summary>
      <DataTable
        caption="Where it did not go"
        rows={unreached.data}
        hrefOf={({ endpoint_id: id }) => url(base, `/console/endpoints/${id}`)}
        columns={[
          {
            label: 'Endpoint',
            isWide: true,
            cell: ({ url: address, endpoint_id: id }) => (
              <Text text={withoutScheme(address ?? id)} />
            ),
          },
          { label: 'Why', isWide: true, cell: ({ reason }) => <LongText text={reason} /> },
        ]}
        pages={{
          extent: `${unreached.data.length} of ${unreachedCount.toLocaleString('en')}`,
          olderHref:
            next === null
              ? undefined
              : `${url(base, `/console/messages/${message.id}`, { others: next })}#others`,
        }}
      />
    </details>
  )
}
