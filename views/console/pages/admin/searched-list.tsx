import type { VNode } from 'preact'
import { type Column, DataTable } from '../../data-table.tsx'
import { EmptyState } from '../../empty-state.tsx'
import { FilterBar } from '../../filter-bar.tsx'
import { LinkButton } from '../../form/button.tsx'
import type { IconName } from '../../icons.tsx'
import type { Pages } from '../../pager.tsx'
import { FilterChips, type Tab } from '../../tabs.tsx'
import { url } from '../../url.ts'

/** The usual questions to a list; with how many rows answer each, where nothing is searched for. */
export interface Question {
  label: string
  /** As the address has it; undefined for all rows. */
  value?: string | undefined
  count?: number | undefined
}

/** A list of the installation: searched, narrowed to one question, and read page by page. */
export const SearchedList = <Row extends { id: string }>(list: {
  base: string
  path: string
  caption: string
  search: { label: string; value: string }
  /** The name of the filter in the address, what it is called, and what it is now. */
  filter: { name: string; label: string; value: string | undefined; questions: Question[] }
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  pages: Pages
  /** What else of the address stays as it is. */
  kept?: Record<string, string | undefined>
  /** Where there is nothing at all to search in. */
  empty?: VNode
  /** Where nothing is like what is searched for. */
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

/** Leads back to the whole list. */
export const NothingLikeThat = (none: {
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
