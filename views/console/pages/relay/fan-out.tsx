import { STAGES, type Stage } from '../../../../src/delivery/store/fan-out.ts'
import type { FanOut, SentSummary } from '../../../../src/engines/relay/fan-out.ts'
import { type Column, DataTable } from '../../data-table.tsx'
import { type ListPosition, pagerLinks } from '../../list-position.ts'
import { FilterChips } from '../../tabs.tsx'
import { LongText, Text } from '../../text.tsx'
import { url } from '../../url.ts'
import { capitalized, counted, withoutScheme } from '../../words.ts'
import { DeliveryBadge, Moment } from './state.tsx'

interface Props {
  base: string
  fanOut: FanOut
  stage: Stage | undefined
  position: ListPosition
  now: number
}

/** Filters are shown for more deliveries than this. */
const FEW = 10

/** Deliveries of a message, problems first. */
export const SentList = (list: Props) => {
  const { base, fanOut, stage, position, now } = list
  const { counts, sent } = fanOut
  const all = STAGES.reduce((sum, one) => sum + counts[one], 0)
  const href = ({ stage, cursor, trail }: { stage?: Stage | undefined } & ListPosition) =>
    url(base, `/console/messages/${fanOut.message.id}`, { stage, cursor, trail })
  return (
    <>
      {all > FEW && (
        <FilterChips
          label="Status"
          tabs={[
            { label: 'All', href: href({}), count: all, isCurrent: stage === undefined },
            ...STAGES.filter((one) => counts[one] > 0 || one === stage).map((one) => ({
              label: capitalized(stageWord(one)),
              href: href({ stage: one }),
              count: counts[one],
              isCurrent: one === stage,
              ...(one === 'failed' && { tone: 'bad' as const }),
            })),
          ]}
        />
      )}
      <DataTable
        caption="Delivered to"
        rows={sent.data}
        idOf={({ id }) => id}
        hrefOf={({ id }) => url(base, `/console/deliveries/${id}`)}
        columns={sentColumns(base, now)}
        empty={<p class="quietrow">{all === 0 ? 'No deliveries' : 'No matching deliveries'}</p>}
        pages={pagerLinks(position, sent.next_cursor, (at) => href({ stage, ...at }))}
      />
    </>
  )
}

/** Name of a stage for people. */
export const stageWord = (stage: Stage): string => (stage === 'under way' ? 'in progress' : stage)

/** Columns of deliveries, with links to the delivery and to the endpoint. */
const sentColumns = (base: string, now: number): Column<SentSummary>[] => [
  {
    label: 'Delivery',
    isWide: true,
    cell: ({ url: address }) => (
      <Text text={address === null ? 'Deleted endpoint' : withoutScheme(address)} />
    ),
  },
  { label: 'Status', narrow: 'corner', cell: ({ status }) => <DeliveryBadge status={status} /> },
  { label: 'Attempts', align: 'right', cell: ({ attempts }) => attempts.toLocaleString('en') },
  {
    label: 'Next attempt or end',
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
          View<span class="unseen"> the endpoint {withoutScheme(address)}</span>
        </a>
      ),
  },
]

/** Endpoints that the message was not sent to, with reasons. Collapsed if there are deliveries. */
export const UnreachedList = ({ base, fanOut, isOpen }: Props & { isOpen: boolean }) => {
  const { unreached, unreachedCount, message } = fanOut
  const next = unreached.next_cursor
  return (
    <details class="fold" open={isOpen} id="others">
      <summary>
        Not delivered to <span class="hint">{counted(unreachedCount, 'endpoint')}</span>
      </summary>
      <DataTable
        caption="Not delivered to"
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
          {
            label: 'Reason',
            isWide: true,
            cell: ({ reason }) => <LongText text={capitalized(reason)} />,
          },
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
