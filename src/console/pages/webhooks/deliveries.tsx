import { EmptyState } from '../../../../views/ui/empty-state.tsx'
import { LinkButton } from '../../../../views/ui/form/button.tsx'
import { Pager } from '../../../../views/ui/pager.tsx'
import { PageHead } from '../../../../views/ui/section.tsx'
import { sortingIn } from '../../../../views/ui/sorting.ts'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { capitalized, counted, numeral, withoutScheme } from '../../../../views/ui/words.ts'
import type { Endpoint } from '../../../engines/relay/model/endpoints.ts'
import { type Delivery, STATUSES, type Status } from '../../../http/delivery-log/model.ts'
import type { Page } from '../../../platform/cursor.ts'
import { bulk, useSelection } from '../../bulk.ts'
import { ExportMenu, exportOf, pagesOf } from '../../export.tsx'
import { ListFilters, optionsOf, useList } from '../../list.tsx'
import { type PageContext, page, usePage } from '../../page.tsx'
import { type TimeFilter, timeFilterIn } from '../../time-filter.ts'
import { DeliveryBadge, Moment, WORDS } from './state.tsx'

/** URL of an endpoint, by ID. */
type Address = Pick<Endpoint, 'id' | 'url'>

const ON_A_PAGE = 50
const SORTS = { created: 'desc' } as const

interface DeliveryList {
  found: Page<Delivery>
  endpoints: readonly Address[]
  status: Status | undefined
  time: TimeFilter
  /** Updates while the page is open. */
  isLive: boolean
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
    const { delivery, tenantId, environment, query, position } = context
    return {
      found: found(context, { cursor: position.cursor, limit: ON_A_PAGE }),
      endpoints: delivery.queries.addresses({ tenantId, name: `relay.${environment}` }),
      status: STATUSES.find((one) => one === query.status),
      time: timeFilterIn(context),
      isLive: position.cursor === undefined && !(query.status || query.within || query.sort),
    }
  },

  status: ({ time }) => (time.errors.length > 0 ? 422 : 200),

  /** Only the first page of the newest deliveries updates. */
  live: (list) =>
    list.isLive
      ? {
          'deliveries-head': { facts: list.found.data, view: <Head {...list} /> },
          'deliveries-list': { facts: [list.found.data, list.endpoints], view: <Rows {...list} /> },
          'deliveries-pages': { facts: list.found.next_cursor, view: <Pages {...list} /> },
        }
      : undefined,

  view(list) {
    const { status, endpoints, time, found } = list
    const { query } = usePage()
    const { isFiltered } = useList()
    return (
      <>
        <div id="deliveries-head">
          <Head {...list} />
        </div>
        {(found.data.length > 0 || isFiltered) && (
          <ListFilters
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
                value: query.endpoint,
                options: optionsOf(
                  endpoints.map(({ id, url }) => ({ value: id, label: withoutScheme(url) })),
                  query.endpoint || undefined,
                ),
              },
            ]}
            time={time}
          />
        )}
        <div id="deliveries-list">
          <Rows {...list} />
        </div>
        <div id="deliveries-pages">
          <Pages {...list} />
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
    isAscending: isAscendingIn(context),
  })
}

const isAscendingIn = ({ query }: Pick<PageContext, 'query'>): boolean =>
  !sortingIn(query.sort, SORTS).isDescending

const Head = (list: DeliveryList) => (
  <PageHead
    title="Deliveries"
    state={{ sentence: sentenceOn(list.found) }}
    aside={list.found.data.length > 0 && <ExportMenu />}
  />
)

const Pages = ({ found }: DeliveryList) => <Pager {...useList().pagesTo(found.next_cursor)} />

function Rows({ found, endpoints }: DeliveryList) {
  const { href } = usePage()
  const list = useList()
  const { olderHref } = list.pagesTo(found.next_cursor)
  return (
    <>
      <DataTable
        caption="Deliveries"
        rows={found.data}
        hrefOf={({ id }) => href(`/deliveries/${id}`)}
        idOf={({ id }) => id}
        columns={deliveryColumns(endpoints)}
        empty={<NoDeliveries isSearching={olderHref !== undefined} />}
        selection={useSelection(BULK)}
        sorting={list.sortedBy(SORTS)}
      />
      {found.data.length === 0 && olderHref !== undefined && (
        <LinkButton href={olderHref}>View older deliveries</LinkButton>
      )}
    </>
  )
}

function NoDeliveries({ isSearching }: { isSearching: boolean }) {
  const { href } = usePage()
  const { isFiltered, allHref } = useList()
  if (isSearching)
    return <EmptyState icon="deliveries" sentence="No matches among the latest deliveries" />
  return isFiltered ? (
    <EmptyState
      icon="deliveries"
      sentence="No matching deliveries"
      action={<LinkButton href={allHref}>View all deliveries</LinkButton>}
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

function sentenceOn({ data }: Page<Delivery>) {
  const { isFiltered, isFirst } = useList()
  const [latest] = data
  if (isFiltered) return latest ? 'Matching deliveries' : 'No matching deliveries'
  if (isAscendingIn(usePage())) return 'All deliveries, oldest first'
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
