import type { VNode } from 'preact'
import { type Column, DataTable } from '../../data-table.tsx'
import { EmptyState } from '../../empty-state.tsx'
import { FilterBar } from '../../filter-bar.tsx'
import { LinkButton } from '../../form/button.tsx'
import type { IconName } from '../../icons.tsx'
import type { Pages } from '../../pager.tsx'
import { FilterChips, type Tab } from '../../tabs.tsx'
import { url } from '../../url.ts'

/** A filter of a list, with its number of rows. */
export interface Question {
  label: string
  /** Value in the query string; undefined for all rows. */
  value?: string | undefined
  count?: number | undefined
}

/** An admin list with search, filters and pages. Counts are hidden during a search. */
export const SearchedList = <Row extends { id: string }>(list: {
  base: string
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
  /** Replaces the list if it has no rows at all. */
  empty?: VNode
  /** Shown if no rows match. */
  none: VNode
}) => {
  const { base, path, search, filter, kept, empty } = list
  const { name, value } = filter
  const q = search.value
  if (empty) return empty
  return (
    <>
      <FilterBar
        action={url(base, path)}
        search={search}
        kept={{ ...kept, [name]: value }}
        clearHref={q === '' && value === undefined ? undefined : url(base, path, kept)}
      />
      <FilterChips
        label={filter.label}
        tabs={filter.questions.map(
          (question): Tab => ({
            label: question.label,
            href: url(base, path, { ...kept, q, [name]: question.value }),
            isCurrent: question.value === value,
            ...(q === '' && question.count !== undefined && { count: question.count }),
          }),
        )}
      />
      <DataTable
        caption={list.caption}
        columns={list.columns}
        rows={list.rows}
        hrefOf={({ id }) => url(base, `${path}/${id}`)}
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
