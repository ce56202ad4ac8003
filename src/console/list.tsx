import { EmptyState } from '../../views/ui/empty-state.tsx'
import { type Filter, FilterBar, type FilterInput } from '../../views/ui/filter-bar.tsx'
import { LinkButton } from '../../views/ui/form/button.tsx'
import type { IconName } from '../../views/ui/icons.tsx'
import { type ListPosition, pagerLinks } from '../../views/ui/pager.tsx'
import { type Sorting, type Sorts, sortingIn, sortingText } from '../../views/ui/sorting.ts'
import type { Tone } from '../../views/ui/status.tsx'
import { FilterChips } from '../../views/ui/tabs.tsx'
import { shorten } from '../../views/ui/text.tsx'
import { type Query, url } from '../../views/ui/url.ts'
import { type PageContext, usePage } from './page.tsx'
import type { TimeFilter } from './time-filter.ts'

/** Parameters of a page that are no filter: position, message, changed row, state of a stream. */
const OTHERS: ReadonlySet<string> = new Set([
  ...['cursor', 'trail', 'done', 'count', 'shown', 'changed'],
])

/** The filter and order of a list, from the query string. */
export const filterIn = ({ query }: Pick<PageContext, 'query'>): PageContext['query'] =>
  Object.fromEntries(Object.entries(query).filter(([name]) => !OTHERS.has(name)))

/** The list that the page shows. Its query string has filter, order and position. */
export function useList() {
  const { actionHref, position, query } = usePage()
  const filter = filterIn({ query })
  /** Address of the list with a changed filter, order or position: by default of its first page. */
  const hrefOf = (change: Query | ListPosition = {}) =>
    url('', actionHref(''), { ...filter, ...change })
  return {
    hrefOf,
    /** Address of the whole list, in the same order. */
    allHref: url('', actionHref(''), { sort: filter.sort }),
    isFiltered: Object.entries(filter).some(([name, value]) => name !== 'sort' && value),
    isFirst: position.cursor === undefined,
    /** Links to other pages, given the cursor of the next one. Without `sort`, most lists have the newest first. */
    pagesTo: (next: string | null | undefined, { isByTime = true } = {}) => ({
      ...pagerLinks(position, next, hrefOf),
      isSorted: !isByTime || Boolean(filter.sort),
    }),
    /** For a table whose headers change the order. */
    sortedBy: (sorts: Sorts<string>) => ({
      current: sortingIn(filter.sort, sorts),
      sorts,
      hrefOf: (to: Sorting) => hrefOf({ sort: sortingText(to, sorts) }),
    }),
  }
}

/** Search, filters and time of a list, which keep its order and its other filters. */
export function ListFilters(of: {
  /** `name` is q unless given. */
  search?: { label: string; name?: string }
  filters?: readonly Filter[]
  inputs?: readonly FilterInput[]
  time?: TimeFilter | undefined
}) {
  const { search, filters = [], inputs = [], time } = of
  const { query } = usePage()
  const { hrefOf, allHref, isFiltered } = useList()
  const name = search?.name ?? 'q'
  const own = [
    ...(search ? [name] : []),
    ...[...filters, ...inputs].map((filter) => filter.name),
    ...(time ? ['within', 'since', 'until'] : []),
  ]
  const others = Object.entries(filterIn({ query })).filter(([other]) => !own.includes(other))
  return (
    <FilterBar
      action={hrefOf().replace(/\?.*/, '')}
      {...(search && { search: { ...search, value: query[name] ?? '' } })}
      filters={time ? [...filters, time.filter] : filters}
      {...((time || inputs.length > 0) && { inputs: [...(time?.inputs ?? []), ...inputs] })}
      kept={Object.fromEntries(others)}
      {...(isFiltered && { clearHref: allHref })}
    />
  )
}

interface Chip {
  value: string
  label: string
  count?: number | undefined
  tone?: Tone
}

/** The most used filter of a list as links with counts. Failures and warnings come first, if there are any. */
export function ListChips(of: {
  name: string
  label?: string
  all?: number | undefined
  chips: readonly Chip[]
  /** What the counts are known up to. */
  most?: number
}) {
  const { name, label = 'Status', all, chips, most } = of
  const { hrefOf } = useList()
  const chosen = usePage().query[name] || undefined
  const tabOf = ({ value, label, count, tone }: Partial<Chip> & Pick<Chip, 'label'>) => ({
    label,
    href: hrefOf({ [name]: value }),
    isCurrent: value === chosen,
    ...(count !== undefined && { count }),
    ...(most !== undefined && { most }),
    ...(count && tone && { tone }),
  })
  const isUrgent = ({ tone, count }: Chip) => (tone === 'bad' || tone === 'warn') && Boolean(count)
  return (
    <FilterChips
      label={label}
      tabs={[
        ...chips.filter(isUrgent).map(tabOf),
        tabOf({ label: 'All', count: all }),
        ...chips.filter((chip) => !isUrgent(chip)).map(tabOf),
      ]}
    />
  )
}

/** No row matches the filter, or none of those that were searched before the page at `olderHref`. */
export function NoMatches(of: {
  icon: IconName
  /** Many rows, such as `users`. */
  noun: string
  next?: string | undefined
  olderHref?: string | undefined
}) {
  const { icon, noun, next, olderHref } = of
  const { allHref } = useList()
  return olderHref === undefined ? (
    <EmptyState
      icon={icon}
      sentence={`No matching ${noun}`}
      next={next}
      action={<LinkButton href={allHref}>View all {noun}</LinkButton>}
    />
  ) : (
    <EmptyState
      icon={icon}
      sentence="No matches so far"
      next={`Only some of the ${noun} have been searched.`}
      action={<LinkButton href={olderHref}>Continue search</LinkButton>}
    />
  )
}

/** Most characters in an option. */
const MAX_OPTION_LENGTH = 60

/** Options of a filter, including a chosen one that no longer exists. */
export function optionsOf(
  options: readonly { value: string; label: string }[],
  chosen: string | undefined,
) {
  const isKnown = chosen === undefined || options.some(({ value }) => value === chosen)
  return [...(isKnown ? [] : [{ value: chosen, label: chosen }]), ...options].map(
    ({ value, label }) => ({ value, label: shorten(label, MAX_OPTION_LENGTH) }),
  )
}

/** A filter by tag, if there are any. */
export function tagFilter(tags: readonly string[], chosen = ''): Filter[] {
  const options = optionsOf(
    tags.map((tag) => ({ value: tag, label: tag })),
    chosen || undefined,
  )
  return options.length === 0 ? [] : [{ name: 'tag', label: 'Tag', value: chosen, options }]
}
