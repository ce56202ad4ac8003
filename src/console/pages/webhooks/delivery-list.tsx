import { sortingIn } from '../../../../views/ui/sorting.ts'
import type { Column } from '../../../../views/ui/table.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { capitalized, numeral, withoutScheme } from '../../../../views/ui/words.ts'
import type { DeliveryLog } from '../../../http/delivery-log/deliveries.ts'
import { type Delivery, STATUSES } from '../../../http/delivery-log/model.ts'
import type { Caller } from '../../../platform/caller.ts'
import type { Page } from '../../../platform/cursor.ts'
import { bulk } from '../../bulk.ts'
import { exportOf, pagesOf } from '../../export.tsx'
import { ListChips } from '../../list.tsx'
import { type PageContext, usePage } from '../../page.tsx'
import { timeFilterIn } from '../../time-filter.ts'
import { DELIVERY_TONES, DeliveryBadge, Moment, WORDS } from './state.tsx'

export const DELIVERY_SORTS = { created: 'desc' } as const

/** Failed deliveries are counted up to this number. */
const MAX_COUNTED = 1000

/** A delivery log as the operator may read and change it. */
type LogOf = (context: Omit<PageContext, 'params'>) => { log: DeliveryLog; by: Caller }

/** Deliveries of messages. */
export const relayLogOf: LogOf = ({ relay, caller, environment }) => ({
  log: relay.deliveries,
  by: caller('relay', environment),
})

export const isOldestFirst = ({ query }: Pick<PageContext, 'query'>): boolean =>
  !sortingIn(query.sort, DELIVERY_SORTS).isDescending

/** A page of deliveries: its list, actions and download. */
export function deliveriesOf<Context extends PageContext>(of: {
  /** For the name of the file. */
  name: string
  logOf: LogOf
  /** Of the endpoint to which the list is limited. Throws `not_found` for the path of an unknown one. */
  endpointIdOf: (context: Context) => string | undefined
}) {
  const scopeOf = (context: Context) => {
    const { since, until } = timeFilterIn(context)
    return { since, until, endpoint_id: of.endpointIdOf(context) }
  }

  /** Those that match the filter of the query string, in its order. */
  function found(
    context: Context,
    page: { cursor: string | undefined; limit: number },
  ): Page<Delivery> {
    const { log, by } = of.logOf(context)
    return log.list(by, {
      ...page,
      ...scopeOf(context),
      status: STATUSES.find((one) => one === context.query.status),
      isAscending: isOldestFirst(context),
    })
  }

  /** The failed ones of the list; undefined if there are too many to tell. */
  function failedCount(context: Context): number | undefined {
    const { log, by } = of.logOf(context)
    return log.failedCount(by, scopeOf(context), MAX_COUNTED)
  }

  const file = exportOf({
    name: of.name,
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
    slices: (context: Context) => {
      of.endpointIdOf(context)
      return pagesOf((page) => found(context, page))
    },
  })

  return { found, failedCount, file, bulk: deliveryBulk(of.logOf) }
}

const NOUN = ['delivery', 'deliveries'] as const

/** Actions on the selected deliveries of a page. */
export const deliveryBulk = (logOf: LogOf) => ({
  'selected/resend': bulk({
    right: 'change',
    verb: 'Retry',
    noun: NOUN,
    done: 'queued',
    each: (context, id) => {
      const { log, by } = logOf(context)
      return log.resend(by, id)
    },
  }),
  'selected/cancel': bulk({
    right: 'change',
    verb: 'Cancel deliveries',
    noun: NOUN,
    done: 'cancelled',
    confirm: 'They get no more attempts. You can retry them later.',
    each: (context, id) => {
      const { log, by } = logOf(context)
      return log.cancel(by, id)
    },
  }),
})

/** The statuses as filters, given the number of failed deliveries. */
export const DeliveryChips = ({ failed }: { failed: number | undefined }) => (
  <ListChips
    name="status"
    chips={STATUSES.map((value) => ({
      value,
      label: capitalized(WORDS[value]),
      tone: DELIVERY_TONES[value],
      ...(value === 'failed' && { count: failed }),
    }))}
    most={MAX_COUNTED}
  />
)

/** Columns of deliveries. Without `endpoints`, URLs by ID, the endpoint column is omitted. */
export const deliveryColumns = (endpoints?: ReadonlyMap<string, string>): Column<Delivery>[] => [
  { label: 'Event', isWide: true, cell: ({ event_type: type }) => <Text text={type} /> },
  ...(endpoints
    ? [
        {
          label: 'Endpoint',
          isWide: true,
          cell: ({ endpoint_id: id }: Delivery) => {
            const address = endpoints.get(id)
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
  { label: 'Next attempt', align: 'right', cell: ({ next_attempt_at: at }) => <Moment at={at} /> },
  {
    label: 'Created',
    align: 'right',
    sort: 'created',
    cell: ({ created_at: at }) => <Moment at={at} />,
  },
]
