import type { Pages } from './pager.tsx'

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
