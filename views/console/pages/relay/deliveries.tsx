import type { VNode } from 'preact'
import type { Endpoint } from '../../../../src/engines/relay/model/endpoints.ts'
import { type Delivery, STATUSES, type Status } from '../../../../src/http/delivery-log/model.ts'
import type { Page } from '../../../../src/platform/cursor.ts'
import { type Column, DataTable } from '../../data-table.tsx'
import { EmptyState } from '../../empty-state.tsx'
import { FilterBar } from '../../filter-bar.tsx'
import { LinkButton } from '../../form/button.tsx'
import { PageHead } from '../../page-head.tsx'
import { Pager, type Pages } from '../../pager.tsx'
import { shorten, Text } from '../../text.tsx'
import { url } from '../../url.ts'
import { capitalized, counted, withoutScheme } from '../../words.ts'
import { LiveSource } from '../live-source.tsx'
import { DeliveryBadge, Moment, WORDS } from './state.tsx'

/** Most characters in an option. */
const MAX_OPTION_LENGTH = 60

/** URL of an endpoint, by ID. */
type Address = Pick<Endpoint, 'id' | 'url'>

export interface DeliveryListing {
  base: string
  page: Page<Delivery>
  /** Links to other pages. */
  pages: Pages
  isFirst: boolean
  endpoints: readonly Address[]
  status: Status | undefined
  endpointId: string | undefined
  now: number
}

/** Live parts of the page, by element ID. */
export const DELIVERY_PARTS = {
  'deliveries-head': (listing: DeliveryListing) => (
    <PageHead title="Deliveries" state={{ sentence: sentenceOn(listing) }} />
  ),
  'deliveries-list': (listing: DeliveryListing) => <Rows {...listing} />,
  'deliveries-pages': ({ pages }: DeliveryListing) => <Pager {...pages} />,
} satisfies Record<string, (listing: DeliveryListing) => VNode>

/** Deliveries with live updates. */
export const DeliveriesPage = (page: {
  listing: DeliveryListing
  /** Undefined for filtered lists and older pages. */
  live: { href: string; shownId: string } | undefined
}) => {
  const { listing, live } = page
  const { base, status, endpointId, endpoints } = listing
  const here = url(base, '/console/deliveries')
  const isFiltered = isFilteredIn(listing)
  return (
    <>
      {live && <LiveSource {...live} />}
      <Part id="deliveries-head" listing={listing} />
      {(listing.page.data.length > 0 || isFiltered) && (
        <FilterBar
          action={here}
          filters={[
            {
              name: 'status',
              label: 'Status',
              value: status,
              options: STATUSES.map((value) => ({ value, label: capitalized(WORDS[value]) })),
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
      <Part id="deliveries-list" listing={listing} />
      <Part id="deliveries-pages" listing={listing} />
    </>
  )
}

const Part = ({ id, listing }: { id: keyof typeof DELIVERY_PARTS; listing: DeliveryListing }) => (
  <div id={id}>{DELIVERY_PARTS[id](listing)}</div>
)

const isFilteredIn = ({ status, endpointId }: DeliveryListing): boolean =>
  status !== undefined || endpointId !== undefined

const Rows = (listing: DeliveryListing) => {
  const { base, page, pages, endpoints, now } = listing
  const hasMore = pages.olderHref !== undefined
  return (
    <>
      <DataTable
        caption="Deliveries"
        rows={page.data}
        hrefOf={({ id }) => url(base, `/console/deliveries/${id}`)}
        idOf={({ id }) => id}
        columns={deliveryColumns({ base, endpoints, now })}
        empty={<Nothing base={base} isFiltered={isFilteredIn(listing)} hasMore={hasMore} />}
      />
      {page.data.length === 0 && pages.olderHref !== undefined && (
        <LinkButton href={pages.olderHref}>View older deliveries</LinkButton>
      )}
    </>
  )
}

/** Endpoints to filter by, including a deleted one that is selected. */
function optionsOf(endpoints: readonly Address[], chosen: string | undefined) {
  const known = endpoints.map(({ id, url: address }) => ({
    value: id,
    label: shorten(withoutScheme(address), MAX_OPTION_LENGTH),
  }))
  return chosen === undefined || endpoints.some(({ id }) => id === chosen)
    ? known
    : [{ value: chosen, label: shorten(chosen, MAX_OPTION_LENGTH) }, ...known]
}

const Nothing = (list: { base: string; isFiltered: boolean; hasMore: boolean }) => {
  if (list.hasMore)
    return <EmptyState icon="deliveries" sentence="No matches among the latest deliveries" />
  return list.isFiltered ? (
    <EmptyState
      icon="deliveries"
      sentence="No matching deliveries"
      action={
        <LinkButton href={url(list.base, '/console/deliveries')}>View all deliveries</LinkButton>
      }
    />
  ) : (
    <EmptyState
      icon="deliveries"
      sentence="No deliveries yet"
      next="Each message creates one delivery per subscribed endpoint."
      action={<LinkButton href={url(list.base, '/console/endpoints')}>View endpoints</LinkButton>}
    />
  )
}

/** Columns of deliveries. Without `endpoints`, the endpoint column is omitted. */
export const deliveryColumns = (list: {
  base: string
  endpoints?: readonly Address[]
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
                'Deleted endpoint'
              ) : (
                <a href={url(base, `/console/endpoints/${id}`)}>
                  <Text text={withoutScheme(address)} limit={60} />
                </a>
              )
            },
          },
        ]
      : []),
    { label: 'Status', narrow: 'corner', cell: ({ status }) => <DeliveryBadge status={status} /> },
    { label: 'Attempts', align: 'right', cell: ({ attempts }) => attempts.toLocaleString('en') },
    {
      label: 'Next attempt',
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

function sentenceOn({ page, isFirst, status, endpointId, now }: DeliveryListing) {
  const { data } = page
  const [latest] = data
  if (status !== undefined || endpointId !== undefined)
    return latest ? 'Matching deliveries, newest first' : 'No matching deliveries'
  if (!latest) return 'Deliveries of your messages to endpoints'
  if (!isFirst) return 'Older deliveries'
  const wrong = data.filter((one) => one.status === 'failed' || one.status === 'retrying').length
  const last = `the last ${counted(data.length, 'delivery', 'deliveries')}`
  return (
    <>
      {wrong === 0 ? `No failures in ${last}` : `${wrong} of ${last} failed or retrying`}; latest{' '}
      <Moment at={latest.created_at} now={now} />
    </>
  )
}
