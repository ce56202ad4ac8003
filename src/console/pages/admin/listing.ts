import type { Pages } from '../../../../views/console/pager.tsx'
import { pagesAlong, positionIn } from '../../../../views/console/trail.ts'
import { url } from '../../../../views/console/url.ts'
import { page } from '../../../platform/cursor.ts'
import type { Layout } from '../../layout.ts'

const ROWS = 50
/** Longer queries can't match. */
const MAX_SEARCH_LENGTH = 300

/** Encodes the position of a page in a list. */
interface Cursor<Position> {
  encode(position: Position): string
  positionOf(cursor: string | undefined): Position | undefined
}

/** Reads search, filter and position of an admin list from the query string. */
export function createListing<Position>(parts: {
  layout: Pick<Layout, 'base'>
  path: string
  cursor: Cursor<Position>
}) {
  const { layout, path, cursor } = parts

  return (request: Request) => {
    const asked = new URL(request.url).searchParams
    const q = asked.get('q')?.trim().slice(0, MAX_SEARCH_LENGTH) ?? ''
    const position = positionIn(asked)

    /** Cuts rows to one page, given one row more than a page holds. */
    function cut<Row>(
      rows: readonly Row[],
      positionOf: (last: Row) => Position,
      filter: Record<string, string | undefined>,
    ): { lines: Row[]; pages: Pages } {
      const { data, next_cursor: next } = page(rows, ROWS, (last) =>
        cursor.encode(positionOf(last)),
      )
      return { lines: data, pages: along(next, filter) }
    }

    const along = (next: string | null | undefined, filter: Record<string, string | undefined>) =>
      pagesAlong(position, next, (to) => url(layout.base(), path, { q, ...filter, ...to }))

    return {
      asked,
      q,
      /** Undefined without a search. */
      search: q === '' ? undefined : q,
      after: cursor.positionOf(position.cursor),
      rows: ROWS,
      /** One more than a page, which tells whether there is a next page. */
      limit: ROWS + 1,
      cut,
      /** For lists that return the next position. */
      pagesTo: (next: Position | undefined, filter: Record<string, string | undefined>) =>
        along(next === undefined ? undefined : cursor.encode(next), filter),
    }
  }
}
