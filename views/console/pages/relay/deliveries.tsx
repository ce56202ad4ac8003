import type { Endpoint } from '../../../../src/engines/relay/model/endpoints.ts'
import { type Delivery, STATUSES, type Status } from '../../../../src/http/delivery-log/model.ts'
import type { Page } from '../../../../src/platform/cursor.ts'
import { type Column, DataTable } from '../../data-table.tsx'
import { EmptyState } from '../../empty-state.tsx'
import { FilterBar } from '../../filter-bar.tsx'
import { LinkButton } from '../../form/button.tsx'
import { PageHead } from '../../page-head.tsx'
import { shorten, Text } from '../../text.tsx'
import { url } from '../../url.ts'
import { DeliveryMark, Moment, WORDS, withoutScheme } from './state.tsx'

/** Names in a list to choose from, which few read to its end. */
const LONGEST_OPTION = 60

/** What became of messages, endpoint by endpoint. */
export const DeliveriesPage = (page: {
  base: string
  page: Page<Delivery>
  isFirst: boolean
  endpoints: readonly Endpoint[]
  status: Status | undefined
  endpointId: string | undefined
  now: number
}) => {
  const { base, status, endpointId, endpoints } = page
  const { data, next_cursor: cursor } = page.page
  const here = url(base, '/console/deliveries')
  const href = (of: { cursor?: string }) =>
    url(base, '/console/deliveries', { status, endpoint: endpointId, ...of })
  const isFiltered = status !== undefined || endpointId !== undefined
  return (
    <>
      <PageHead title="Deliveries" state={{ sentence: sentenceOn(page) }} />
      {(data.length > 0 || isFiltered) && (
        <FilterBar
          action={here}
          filters={[
            {
              name: 'status',
              label: 'State',
              value: status,
              options: STATUSES.map((value) => ({ value, label: WORDS[value] })),
            },
            {
              name: 'endpoint',
              label: 'Endpoint',
              value: endpointId,
              options: optionsOf(endpoints, endpointId),
            },
          ]}
          clearHref={isFiltered ? here : undefined}
        />
      )}
      <DataTable
        caption="Deliveries"
        rows={data}
        hrefOf={({ id }) => url(base, `/console/deliveries/${id}`)}
        idOf={({ id }) => id}
        columns={deliveryColumns({ base, endpoints, now: page.now })}
        empty={<Nothing base={base} isFiltered={isFiltered} hasMore={cursor !== null} />}
        pages={{
          newerHref: page.isFirst ? undefined : href({}),
          olderHref: cursor === null ? undefined : href({ cursor }),
        }}
      />
      {data.length === 0 && cursor !== null && (
        <LinkButton href={href({ cursor })}>Look further back</LinkButton>
      )}
    </>
  )
}

/** One that is filtered by and has been deleted can still be chosen. */
function optionsOf(endpoints: readonly Endpoint[], chosen: string | undefined) {
  const known = endpoints.map(({ id, url: address }) => ({
    value: id,
    label: shorten(withoutScheme(address), LONGEST_OPTION),
  }))
  return chosen === undefined || endpoints.some(({ id }) => id === chosen)
    ? known
    : [{ value: chosen, label: shorten(chosen, LONGEST_OPTION) }, ...known]
}

const Nothing = (list: { base: string; isFiltered: boolean; hasMore: boolean }) => {
  if (list.hasMore)
    return <EmptyState icon="deliveries" sentence="None among the last that were looked through." />
  return list.isFiltered ? (
    <EmptyState
      icon="deliveries"
      sentence="No delivery is like that."
      action={<LinkButton href={url(list.base, '/console/deliveries')}>Show all</LinkButton>}
    />
  ) : (
    <EmptyState
      icon="deliveries"
      sentence="No delivery yet."
      next="A message makes one for each endpoint that listens to it."
      action={<LinkButton href={url(list.base, '/console/endpoints')}>See endpoints</LinkButton>}
    />
  )
}

/** Deliveries as rows; `endpoints` give addresses to ids, and none where all are of one. */
export const deliveryColumns = (list: {
  base: string
  endpoints?: readonly Endpoint[]
  now: number
}): Column<Delivery>[] => {
  const { base, endpoints, now } = list
  const addresses = new Map(endpoints?.map(({ id, url: address }) => [id, address]))
  return [
    { label: 'Event', isWide: true, cell: ({ event_type: type }) => <Text text={type} /> },
    ...(endpoints
      ? [
          {
            label: 'Endpoint',
            isWide: true,
            cell: ({ endpoint_id: id }: Delivery) => {
              const address = addresses.get(id)
              return address === undefined ? (
                'deleted since'
              ) : (
                <a href={url(base, `/console/endpoints/${id}`)}>
                  <Text text={withoutScheme(address)} limit={60} />
                </a>
              )
            },
          },
        ]
      : []),
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
      label: 'Next',
      align: 'right',
      cell: ({ next_attempt_at: at }) => <Moment at={at} now={now} />,
    },
    {
      label: 'Created',
      align: 'right',
      cell: ({ created_at: at }) => <Moment at={at} now={now} />,
    },
  ]
}

function sentenceOn({
  page,
  isFirst,
  status,
  endpointId,
  now,
}: Parameters<typeof DeliveriesPage>[0]) {
  const { data } = page
  const [latest] = data
  if (status !== undefined || endpointId !== undefined)
    return latest ? 'Those that the filters leave, newest first.' : 'The filters leave nothing.'
  if (!latest) return 'Nothing has been sent.'
  if (!isFirst) return 'Older deliveries.'
  const wrong = data.filter((one) => one.status === 'failed' || one.status === 'retrying').length
  const of = data.length === 1 ? 'The last delivery' : `Of the last ${data.length} deliveries`
  return (
    <>
      {data.length === 1
        ? `${of} ${wrong === 0 ? 'shows no failure' : 'fails'}`
        : `${of}, ${wrong === 0 ? 'none' : wrong} ${wrong === 1 ? 'fails' : 'fail'}`}
      ; the newest is of <Moment at={latest.created_at} now={now} />.
    </>
  )
}
