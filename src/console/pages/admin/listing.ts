import type { Pages } from '../../../../views/console/pager.tsx'
import { pagesAlong, placeIn } from '../../../../views/console/trail.ts'
import { url } from '../../../../views/console/url.ts'
import { page } from '../../../platform/cursor.ts'
import type { Frames } from '../../frame.ts'

const ROWS = 50
/** What somebody searches for is no longer than what can be found. */
const LONGEST_SEARCH = 300

/** Where a page of a list begins and ends. */
interface Cursor<Position> {
  encode(position: Position): string
  positionOf(cursor: string | undefined): Position | undefined
}

/** A list of the installation as its address asks for it: a search, a filter, and a page of it. */
export function createListing<Position>(parts: {
  frames: Pick<Frames, 'base'>
  path: string
  cursor: Cursor<Position>
}) {
  const { frames, path, cursor } = parts

  return (request: Request) => {
    const asked = new URL(request.url).searchParams
    const q = asked.get('q')?.trim().slice(0, LONGEST_SEARCH) ?? ''
    const place = placeIn(asked)

    /** What the rows are, of which one more was read than a page holds. */
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
      pagesAlong(place, next, (to) => url(frames.base(), path, { q, ...filter, ...to }))

    return {
      asked,
      q,
      /** Undefined where nothing is searched for. */
      search: q === '' ? undefined : q,
      after: cursor.positionOf(place.cursor),
      rows: ROWS,
      /** One more, which shows that there are more. */
      limit: ROWS + 1,
      cut,
      /** For a list that says itself what comes next. */
      pagesTo: (next: Position | undefined, filter: Record<string, string | undefined>) =>
        along(next === undefined ? undefined : cursor.encode(next), filter),
    }
  }
}
