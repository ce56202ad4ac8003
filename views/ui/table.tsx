import type { ComponentChildren, VNode } from 'preact'
import { BulkBar, SelectAll, type Selection, SelectRow } from './bulk.tsx'
import { Icon } from './icons.tsx'
import { IN_PLACE, Pager, type Pages } from './pager.tsx'
import { type Sorting, type Sorts, turned } from './sorting.ts'

export interface Column<Row> {
  label: string
  cell: (row: Row) => ComponentChildren
  align?: 'right'
  isMono?: boolean
  /** Takes the remaining width. */
  isWide?: boolean
  /** In a card: omitted, without its label, or beside the title. */
  narrow?: 'hidden' | 'bare' | 'corner'
  /** Name of the sort that its header links to. */
  sort?: string
}

/** The order of a list, which the headers of its columns change. */
export interface TableSorting {
  current: Sorting
  sorts: Sorts<string>
  hrefOf: (to: Sorting) => string
}

/**
 * A list as a table. The first column names the row and links to its page, so its cells contain no links.
 * Under 640 px each row becomes a card: the first column is the title, the others are labeled lines.
 */
export const DataTable = <Row,>(table: {
  caption: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  hrefOf?: (row: Row) => string
  idOf?: (row: Row) => string
  /** ID of the row that was just changed, which flashes once. */
  changedId?: string
  empty?: VNode
  pages?: Pages
  sorting?: TableSorting
  /** Needs `idOf`. */
  selection?: Selection | undefined
}) =>
  table.rows.length === 0 ? (
    (table.empty ?? null)
  ) : (
    <div class="list">
      <div class="scroller">
        <table class="rows">
          <caption class="unseen">{table.caption}</caption>
          <thead>
            <tr>
              {table.selection && <SelectAll />}
              {table.columns.map((column) => (
                <Header column={column} sorting={table.sorting} />
              ))}
            </tr>
          </thead>
          <tbody>
            {table.rows.map((row) => {
              const id = table.idOf?.(row)
              const isChanged = id !== undefined && id === table.changedId
              return (
                <tr id={id && `row-${id}`} class={isChanged ? 'changed' : undefined}>
                  {table.selection && id !== undefined && (
                    <SelectRow id={id} isSelected={table.selection.selected.has(id)} />
                  )}
                  {table.columns.map((column, position) => (
                    <Cell
                      id={table.selection && position === 0 ? `title-${id}` : undefined}
                      column={column}
                      isTitle={position === 0}
                      href={position === 0 ? table.hrefOf?.(row) : undefined}
                    >
                      {column.cell(row)}
                    </Cell>
                  ))}
                </tr>
              )
            })}
          </tbody>
        </table>
      </div>
      {table.selection && <BulkBar {...table.selection} />}
      {table.pages && <Pager {...table.pages} />}
    </div>
  )

const Header = <Row,>(of: { column: Column<Row>; sorting: TableSorting | undefined }) => {
  const { column, sorting } = of
  const { sort, label } = column
  if (sort === undefined || !sorting)
    return (
      <th scope="col" class={classesOf(column)}>
        {label}
      </th>
    )
  const { current, sorts, hrefOf } = sorting
  const isCurrent = current.by === sort
  const direction = current.isDescending ? 'descending' : 'ascending'
  return (
    <th scope="col" class={classesOf(column)} aria-sort={isCurrent ? direction : undefined}>
      <a class="sort" href={hrefOf(turned(current, sort, sorts))} {...IN_PLACE}>
        {label}
        {isCurrent && <Icon name={current.isDescending ? 'down' : 'up'} />}
      </a>
    </th>
  )
}

const UNLABELLED: ReadonlySet<string | undefined> = new Set(['bare', 'corner'])

const Cell = <Row,>(cell: {
  id: string | undefined
  column: Column<Row>
  isTitle: boolean
  href?: string
  children: ComponentChildren
}) => (
  <td
    class={[classesOf(cell.column), cell.isTitle && 'name'].filter(Boolean).join(' ') || undefined}
  >
    {!cell.isTitle && !UNLABELLED.has(cell.column.narrow) && (
      <span class="celllabel" aria-hidden="true">
        {cell.column.label}
      </span>
    )}
    <div class="cell" id={cell.id}>
      {cell.href === undefined ? (
        cell.children
      ) : (
        <a class="rowlink" href={cell.href}>
          {cell.children}
        </a>
      )}
    </div>
  </td>
)

function classesOf<Row>({ align, isMono, isWide, narrow }: Column<Row>): string | undefined {
  const classes = [
    align === 'right' && 'right',
    isMono && 'mono',
    isWide && 'wide',
    narrow && `narrow-${narrow}`,
  ]
  return classes.filter(Boolean).join(' ') || undefined
}
