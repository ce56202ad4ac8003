import { Icon } from './icons.tsx'

/**
 * htmx attributes of links and forms that filter a list: morphs the content, which keeps the focus, and
 * updates the address.
 */
export const IN_PLACE = {
  'hx-boost': 'true',
  'hx-target': '#content',
  'hx-select': '#content',
  'hx-swap': 'outerMorph',
  'hx-indicator': '#progress',
}

/** Position in a list, from the query string; empty on the first page. */
export interface ListPosition {
  cursor?: string | undefined
  /** Cursors of the pages in between, the latest last. */
  trail?: string | undefined
}

/** Most cursors kept in an address. Further back, only the first page is linked. */
const MAX_STEPS = 20
/** Stands for the omitted cursors. No cursor is as short. */
const OMITTED = '*'

/** Reads the position in a list from a query string. */
export const positionIn = (search: URLSearchParams): ListPosition => ({
  cursor: search.get('cursor') || undefined,
  trail: search.get('trail') || undefined,
})

/**
 * Links of a pager, in both directions. Cursors only lead forward, so the address keeps those of the
 * earlier pages: going back shows the same rows, even if newer ones exist.
 * `next` is the cursor of the next page; `hrefOf` adds the active filters.
 */
export function pagerLinks(
  { cursor, trail = '' }: ListPosition,
  next: string | null | undefined,
  hrefOf: (position: ListPosition) => string,
): Pages {
  const steps = trail.split('.').filter((step) => step !== '')
  return {
    ...backLinks(cursor, steps, hrefOf),
    ...(next != null && {
      olderHref: hrefOf({ cursor: next, trail: cursor && joined([...steps, cursor]) }),
    }),
  }
}

function backLinks(
  cursor: string | undefined,
  steps: readonly string[],
  hrefOf: (position: ListPosition) => string,
): Pages {
  if (cursor === undefined) return {}
  const last = steps.at(-1)
  if (last === undefined) return { newerHref: hrefOf({}) }
  if (last === OMITTED) return { newestHref: hrefOf({}) }
  const before = { cursor: last, trail: joined(steps.slice(0, -1)) }
  return { newestHref: hrefOf({}), newerHref: hrefOf(before) }
}

function joined(steps: readonly string[]): string | undefined {
  const kept = steps.length > MAX_STEPS ? [OMITTED, ...steps.slice(1 - MAX_STEPS)] : steps
  return kept.join('.') || undefined
}

/** Links to other pages of a list, usually from `pagesAlong` in trail.ts. */
export interface Pages {
  /** Set if there is more than one newer page. */
  newestHref?: string | undefined
  newerHref?: string | undefined
  olderHref?: string | undefined
  /** Shown and total rows, such as "50 of 1,204". */
  extent?: string | undefined
  /** The list is in another order than newest first. */
  isSorted?: boolean | undefined
}

/** Pager of a keyset-paginated list, which has no page numbers. */
export const Pager = ({ newestHref, newerHref, olderHref, extent, isSorted }: Pages) =>
  [newestHref, newerHref, olderHref, extent].every((part) => part === undefined) ? null : (
    <nav class="pager" aria-label="Pages">
      <p>{extent}</p>
      {newestHref !== undefined && (
        <a class="button small bare" rel="first" href={newestHref} {...IN_PLACE}>
          {isSorted ? 'First' : 'Newest'}
        </a>
      )}
      {newerHref !== undefined && (
        <a class="button small" rel="prev" href={newerHref} {...IN_PLACE}>
          <Icon name="left" />
          {isSorted ? 'Previous' : 'Newer'}
        </a>
      )}
      {olderHref !== undefined && (
        <a class="button small" rel="next" href={olderHref} {...IN_PLACE}>
          {isSorted ? 'Next' : 'Older'}
          <Icon name="right" />
        </a>
      )}
    </nav>
  )
