import { pagerLinks, positionIn } from '../../../../views/console/list-position.ts'
import type { Pages } from '../../../../views/console/pager.tsx'
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
    const params = new URL(request.url).searchParams
    const q = params.get('q')?.trim().slice(0, MAX_SEARCH_LENGTH) ?? ''
    const position = positionIn(params)

    /** Cuts rows to one page, given one row more than a page holds. */
    function cut<Row>(
      rows: readonly Row[],
      positionOf: (last: Row) => Position,
      filter: Record<string, string | undefined>,
    ): { rows: Row[]; pages: Pages } {
      const { data, next_cursor: next } = page(rows, ROWS, (last) =>
        cursor.encode(positionOf(last)),
      )
      return { rows: data, pages: pagesFor(next, filter) }
    }

    const pagesFor = (
      next: string | null | undefined,
      filter: Record<string, string | undefined>,
    ) => pagerLinks(position, next, (to) => url(layout.base(), path, { q, ...filter, ...to }))

    return {
      params,
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
        pagesFor(next === undefined ? undefined : cursor.encode(next), filter),
    }
  }
}
