import type { VNode } from 'preact'
import { EmptyState } from '../../../../views/ui/empty-state.tsx'
import { FilterBar } from '../../../../views/ui/filter-bar.tsx'
import { LinkButton } from '../../../../views/ui/form/button.tsx'
import { useHere } from '../../../../views/ui/here.tsx'
import type { IconName } from '../../../../views/ui/icons.tsx'
import { type ListPosition, type Pages, pagerLinks } from '../../../../views/ui/pager.tsx'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { FilterChips, type Tab } from '../../../../views/ui/tabs.tsx'
import { page as pageOf } from '../../../platform/cursor.ts'
import type { OperatorPageContext } from '../../page.tsx'

/** A filter of a list, with its number of rows. */
export interface Question {
  label: string
  /** Value in the query string; undefined for all rows. */
  value?: string | undefined
  count?: number | undefined
}

/** An admin list with search, filters and pages. Counts are hidden during a search. */
export function SearchedList<Row extends { id: string }>(list: {
  path: string
  caption: string
  search: { label: string; value: string }
  /** Parameter, label and current value of the filter. */
  filter: { name: string; label: string; value: string | undefined; questions: Question[] }
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  pages: Pages
  /** Other parameters to keep. */
  kept?: Record<string, string | undefined>
  /** Shown if no rows match. */
  none: VNode
}) {
  const { href } = useHere()
  const { path, search, filter, kept } = list
  const { name, value } = filter
  const q = search.value
  return (
    <>
      <FilterBar
        action={href(path)}
        search={search}
        kept={{ ...kept, [name]: value }}
        clearHref={q === '' && value === undefined ? undefined : href(path, kept)}
      />
      <FilterChips
        label={filter.label}
        tabs={filter.questions.map(
          (question): Tab => ({
            label: question.label,
            href: href(path, { ...kept, q, [name]: question.value }),
            isCurrent: question.value === value,
            ...(q === '' && question.count !== undefined && { count: question.count }),
          }),
        )}
      />
      <DataTable
        caption={list.caption}
        columns={list.columns}
        rows={list.rows}
        hrefOf={({ id }) => href(`${path}/${id}`)}
        idOf={({ id }) => id}
        pages={list.pages}
        empty={list.none}
      />
    </>
  )
}

/** No matches, with a link to the whole list. */
export const NoMatches = (none: {
  icon: IconName
  sentence: string
  label: string
  href: string
}) => (
  <EmptyState
    icon={none.icon}
    sentence={none.sentence}
    action={<LinkButton href={none.href}>{none.label}</LinkButton>}
  />
)

const ROWS = 50
/** Longer queries can't match. */
const MAX_SEARCH_LENGTH = 300

/** Encodes the position of a page in a list. */
interface Cursor<Position> {
  encode(position: Position): string
  positionOf(cursor: string | undefined): Position | undefined
}

/** Reads search and position of a list from the query string. */
export function searchIn<Position>(
  { query, position, href }: OperatorPageContext,
  path: string,
  cursor: Cursor<Position>,
) {
  const q = (query.q ?? '').slice(0, MAX_SEARCH_LENGTH)
  const linksTo = (next: string | null | undefined, filter: Record<string, string | undefined>) =>
    pagerLinks(position, next, (to: ListPosition) => href(path, { q, ...filter, ...to }))
  return {
    q,
    /** Undefined without a search. */
    search: q === '' ? undefined : q,
    after: cursor.positionOf(position.cursor),
    rows: ROWS,
    /** One more than a page, which tells whether there is a next page. */
    limit: ROWS + 1,
    /** Cuts rows to one page, given one row more than a page holds. */
    cut<Row>(
      rows: readonly Row[],
      positionOf: (last: Row) => Position,
      filter: Record<string, string | undefined>,
    ): { rows: Row[]; pages: Pages } {
      const { data, next_cursor: next } = pageOf(rows, ROWS, (last) =>
        cursor.encode(positionOf(last)),
      )
      return { rows: data, pages: linksTo(next, filter) }
    },
    /** For lists that return the next position. */
    pagesTo: (next: Position | undefined, filter: Record<string, string | undefined>) =>
      linksTo(next === undefined ? undefined : cursor.encode(next), filter),
  }
}
