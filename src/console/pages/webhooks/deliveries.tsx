import { EmptyState } from '../../../../views/ui/empty-state.tsx'
import { FilterBar } from '../../../../views/ui/filter-bar.tsx'
import { LinkButton } from '../../../../views/ui/form/button.tsx'
import { Pager, type Pages, pagerLinks } from '../../../../views/ui/pager.tsx'
import { PageHead } from '../../../../views/ui/section.tsx'
import { type Sorting, sortingIn, sortingText } from '../../../../views/ui/sorting.ts'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { shorten, Text } from '../../../../views/ui/text.tsx'
import { capitalized, counted, numeral, withoutScheme } from '../../../../views/ui/words.ts'
import type { Endpoint } from '../../../engines/relay/model/endpoints.ts'
import { type Delivery, STATUSES, type Status } from '../../../http/delivery-log/model.ts'
import type { Page } from '../../../platform/cursor.ts'
import { bulk, useSelection } from '../../bulk.ts'
import { ExportMenu, exportOf, pagesOf } from '../../export.tsx'
import { type PageContext, page, usePage } from '../../page.tsx'
import { type TimeFilter, timeFilterIn } from '../../time-filter.ts'
import { DeliveryBadge, Moment, WORDS } from './state.tsx'

/** Most characters in an option. */
const MAX_OPTION_LENGTH = 60

/** URL of an endpoint, by ID. */
type Address = Pick<Endpoint, 'id' | 'url'>

const ON_A_PAGE = 50
const SORTS = { created: 'desc' } as const

interface DeliveryList {
  found: Page<Delivery>
  /** Links to other pages. */
  pages: Pages
  isFirst: boolean
  endpoints: readonly Address[]
  status: Status | undefined
  endpointId: string | undefined
  time: TimeFilter
  sorting: Sorting<keyof typeof SORTS>
}

const NOUN = ['delivery', 'deliveries'] as const
const BULK = {
  'selected/resend': bulk({
    right: 'change',
    verb: 'Retry',
    noun: NOUN,
    done: 'queued',
    each: ({ relay, caller, environment }, id) =>
      relay.deliveries.resend(caller('relay', environment), id),
  }),
  'selected/cancel': bulk({
    right: 'change',
    verb: 'Cancel deliveries',
    noun: NOUN,
    done: 'cancelled',
    confirm: 'Their endpoints receive no more attempts. You can retry them later.',
    each: ({ relay, caller, environment }, id) =>
      relay.deliveries.cancel(caller('relay', environment), id),
  }),
}

/** Deliveries of a tenant, with live updates. */
export const deliveryList = page({
  path: '/deliveries',
  section: 'deliveries',
  hasEnvironments: true,
  right: 'read',
  title: 'Deliveries',

  load(context): DeliveryList {
    const { delivery, tenantId, environment, query, position, href } = context
    const status = STATUSES.find((one) => one === query.status)
    const endpointId = query.endpoint || undefined
    const time = timeFilterIn(context)
    const sorting = sortingIn(query.sort, SORTS)
    const sort = sortingText(sorting, SORTS)
    const listed = found(context, { cursor: position.cursor, limit: ON_A_PAGE })
    return {
      found: listed,
      pages: {
        ...pagerLinks(position, listed.next_cursor, (to) =>
          href('/deliveries', { status, endpoint: endpointId, ...time.query, sort, ...to }),
        ),
        isSorted: sort !== undefined,
      },
      time,
      sorting,
      isFirst: position.cursor === undefined,
      endpoints: delivery.queries.addresses({ tenantId, name: `relay.${environment}` }),
      status,
      endpointId,
    }
  },

  status: ({ time }) => (time.errors.length > 0 ? 422 : 200),

  /** Only the first page of the newest deliveries updates live. */
  live: (list) =>
    list.status === undefined && list.isFirst && !list.time.isSet && list.sorting.isDescending
      ? {
          'deliveries-head': { facts: list.found.data, view: <Head {...list} /> },
          'deliveries-list': { facts: [list.found.data, list.endpoints], view: <Rows {...list} /> },
          'deliveries-pages': { facts: list.pages, view: <Pager {...list.pages} /> },
        }
      : undefined,

  view(list) {
    const { status, endpointId, endpoints, time, sorting } = list
    const here = usePage().href('/deliveries')
    const isFiltered = isFilteredIn(list)
    return (
      <>
        <div id="deliveries-head">
          <Head {...list} />
        </div>
        {(list.found.data.length > 0 || isFiltered) && (
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
              time.filter,
            ]}
            inputs={time.inputs}
            kept={{ sort: sortingText(sorting, SORTS) }}
            clearHref={isFiltered ? here : undefined}
          />
        )}
        <div id="deliveries-list">
          <Rows {...list} />
        </div>
        <div id="deliveries-pages">
          <Pager {...list.pages} />
        </div>
      </>
    )
  },

  actions: BULK,

  files: {
    export: exportOf({
      name: 'deliveries',
      columns: {
        id: ({ id }) => id,
        message_id: (row) => row.message_id,
        event_type: (row) => row.event_type,
        endpoint_id: (row) => row.endpoint_id,
        status: ({ status }) => status,
        attempts: ({ attempts }) => attempts,
        next_attempt_at: (row) => row.next_attempt_at,
        created_at: (row) => row.created_at,
        ended_at: (row) => row.ended_at,
      },
      slices: (context: PageContext) => pagesOf((of) => found(context, of)),
    }),
  },
})

/** Deliveries that match the filter of the query string. */
function found(context: PageContext, of: { cursor: string | undefined; limit: number }) {
  const { relay, caller, environment, query } = context
  const status = STATUSES.find((one) => one === query.status)
  const { since, until } = timeFilterIn(context)
  return relay.deliveries.list(caller('relay', environment), {
    ...{ ...of, status, since, until },
    endpoint_id: query.endpoint || undefined,
    isAscending: !sortingIn(query.sort, SORTS).isDescending,
  })
}

const Head = (list: DeliveryList) => (
  <PageHead
    title="Deliveries"
    state={{ sentence: sentenceOn(list) }}
    aside={list.found.data.length > 0 && <ExportMenu />}
  />
)

const isFilteredIn = ({ status, endpointId, time }: DeliveryList): boolean =>
  status !== undefined || endpointId !== undefined || time.isSet

function Rows(list: DeliveryList) {
  const { found, pages, endpoints } = list
  const { href } = usePage()
  return (
    <>
      <DataTable
        caption="Deliveries"
        rows={found.data}
        hrefOf={({ id }) => href(`/deliveries/${id}`)}
        idOf={({ id }) => id}
        columns={deliveryColumns(endpoints)}
        empty={<NoDeliveries {...list} />}
        selection={useSelection(BULK)}
        sorting={{
          current: list.sorting,
          sorts: SORTS,
          hrefOf: (to) =>
            href('/deliveries', {
              status: list.status,
              endpoint: list.endpointId,
              ...list.time.query,
              sort: sortingText(to, SORTS),
            }),
        }}
      />
      {found.data.length === 0 && pages.olderHref !== undefined && (
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

function NoDeliveries(list: DeliveryList) {
  const { href } = usePage()
  if (list.pages.olderHref !== undefined)
    return <EmptyState icon="deliveries" sentence="No matches among the latest deliveries" />
  return isFilteredIn(list) ? (
    <EmptyState
      icon="deliveries"
      sentence="No matching deliveries"
      action={<LinkButton href={href('/deliveries')}>View all deliveries</LinkButton>}
    />
  ) : (
    <EmptyState
      icon="deliveries"
      sentence="No deliveries yet"
      next="Each message creates one delivery per subscribed endpoint."
      action={<LinkButton href={href('/endpoints')}>View endpoints</LinkButton>}
    />
  )
}

/** Columns of deliveries. Without `endpoints`, the endpoint column is omitted. */
export function deliveryColumns(endpoints?: readonly Address[]): Column<Delivery>[] {
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
                <a href={usePage().href(`/endpoints/${id}`)}>
                  <Text text={withoutScheme(address)} limit={60} />
                </a>
              )
            },
          },
        ]
      : []),
    { label: 'Status', narrow: 'corner', cell: ({ status }) => <DeliveryBadge status={status} /> },
    { label: 'Attempts', align: 'right', cell: ({ attempts }) => numeral(attempts) },
    {
      label: 'Next attempt',
      align: 'right',
      cell: ({ next_attempt_at: at }) => <Moment at={at} />,
    },
    {
      label: 'Created',
      align: 'right',
      sort: 'created',
      cell: ({ created_at: at }) => <Moment at={at} />,
    },
  ]
}

function sentenceOn(list: DeliveryList) {
  const { data } = list.found
  const { isFirst, sorting } = list
  const [latest] = data
  if (isFilteredIn(list)) return latest ? 'Matching deliveries' : 'No matching deliveries'
  if (!sorting.isDescending) return 'All deliveries, oldest first'
  if (!latest) return 'Deliveries of your messages to endpoints'
  if (!isFirst) return 'Older deliveries'
  const wrong = data.filter((one) => one.status === 'failed' || one.status === 'retrying').length
  const last = `the last ${counted(data.length, 'delivery', 'deliveries')}`
  return (
    <>
      {wrong === 0 ? `No failures in ${last}` : `${wrong} of ${last} failed or retrying`}; latest{' '}
      <Moment at={latest.created_at} />
    </>
  )
}
