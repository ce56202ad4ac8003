import { EmptyState } from '../../../../views/ui/empty-state.tsx'
import { LinkButton } from '../../../../views/ui/form/button.tsx'
import { Pager } from '../../../../views/ui/pager.tsx'
import { PageHead } from '../../../../views/ui/section.tsx'
import { DataTable } from '../../../../views/ui/table.tsx'
import { counted, withoutScheme } from '../../../../views/ui/words.ts'
import type { Delivery } from '../../../http/delivery-log/model.ts'
import type { Page } from '../../../platform/cursor.ts'
import { useSelection } from '../../bulk.ts'
import { ExportMenu } from '../../export.tsx'
import { ListFilters, optionsOf, useList } from '../../list.tsx'
import { page, usePage } from '../../page.tsx'
import { type TimeFilter, timeFilterIn } from '../../time-filter.ts'
import {
  DELIVERY_SORTS,
  DeliveryChips,
  deliveriesOf,
  deliveryColumns,
  isOldestFirst,
  relayLogOf,
} from './delivery-list.tsx'
import { Moment } from './state.tsx'

const ON_A_PAGE = 50

interface DeliveryList {
  found: Page<Delivery>
  failed: number | undefined
  /** URLs of endpoints by ID. */
  endpoints: ReadonlyMap<string, string>
  time: TimeFilter
  /** Updates while the page is open. */
  isLive: boolean
}

const { found, failedCount, bulk, file } = deliveriesOf({
  name: 'deliveries',
  logOf: relayLogOf,
  endpointIdOf: ({ query }) => query.endpoint || undefined,
})

/** Deliveries of a tenant, with live updates. */
export const deliveryList = page({
  path: '/deliveries',
  section: 'deliveries',
  hasEnvironments: true,
  right: 'read',
  title: 'Deliveries',

  load(context): DeliveryList {
    const { delivery, tenantId, environment, query, position } = context
    const addresses = delivery.queries.addresses({ tenantId, name: `relay.${environment}` })
    const time = timeFilterIn(context)
    return {
      found: found(context, { cursor: position.cursor, limit: ON_A_PAGE }),
      failed: failedCount(context),
      endpoints: new Map(addresses.map(({ id, url }) => [id, url])),
      time,
      isLive: position.cursor === undefined && !(query.status || query.sort || time.isSet),
    }
  },

  status: ({ time }) => (time.errors.length > 0 ? 422 : 200),

  /** Only the first page of the newest deliveries updates. */
  live: (list) =>
    list.isLive
      ? {
          'deliveries-head': { facts: [list.found.data, list.failed], view: <Head {...list} /> },
          'deliveries-list': {
            facts: [list.found.data, [...list.endpoints]],
            view: <Rows {...list} />,
          },
          'deliveries-pages': { facts: list.found.next_cursor, view: <Pages {...list} /> },
        }
      : undefined,

  view(list) {
    const { endpoints, time, found } = list
    const { endpoint } = usePage().query
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
                name: 'endpoint',
                label: 'Endpoint',
                value: endpoint,
                options: optionsOf(
                  [...endpoints].map(([value, url]) => ({ value, label: withoutScheme(url) })),
                  endpoint || undefined,
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

  actions: bulk,

  files: { export: file },
})

function Head({ found, failed }: DeliveryList) {
  const { isFiltered } = useList()
  const isAny = found.data.length > 0
  return (
    <>
      <PageHead
        title="Deliveries"
        state={{ sentence: sentenceOn(found) }}
        aside={isAny && <ExportMenu />}
      />
      {(isAny || isFiltered) && <DeliveryChips failed={failed} />}
    </>
  )
}

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
        selection={useSelection(bulk)}
        sorting={list.sortedBy(DELIVERY_SORTS)}
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

function sentenceOn({ data }: Page<Delivery>) {
  const { isFiltered, isFirst } = useList()
  const [latest] = data
  if (isFiltered) return latest ? 'Matching deliveries' : 'No matching deliveries'
  if (isOldestFirst(usePage())) return 'All deliveries, oldest first'
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
