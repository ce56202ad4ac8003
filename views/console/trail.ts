import type { Pages } from './pager.tsx'

/** Where somebody is in a list, as the address has it; nothing of it on the first page. */
export interface ListPlace {
  cursor?: string | undefined
  /** The cursors of the pages in between, the latest last. */
  trail?: string | undefined
}

/** Beyond it addresses grow too long to pass around; further back only the first page is known. */
const MOST_STEPS = 20
/** Stands for the steps that were left out. No cursor is so short. */
const FORGOTTEN = '*'

/** What of an address says where one is. */
export const placeIn = (search: URLSearchParams): ListPlace => ({
  cursor: search.get('cursor') || undefined,
  trail: search.get('trail') || undefined,
})

/**
 * The links of a pager, in both directions. The cursors of lists only lead on, so that the address
 * remembers the way: each page back begins exactly where it began before, whatever is new since.
 *
 * `next` is the cursor of what follows, and `hrefOf` adds the filters that are in force.
 */
export function pagesAlong(
  { cursor, trail = '' }: ListPlace,
  next: string | null | undefined,
  hrefOf: (place: ListPlace) => string,
): Pages {
  const steps = trail.split('.').filter((step) => step !== '')
  return {
    ...backAlong(cursor, steps, hrefOf),
    ...(next != null && {
      olderHref: hrefOf({ cursor: next, trail: cursor && written([...steps, cursor]) }),
    }),
  }
}

function backAlong(
  cursor: string | undefined,
  steps: readonly string[],
  hrefOf: (place: ListPlace) => string,
): Pages {
  if (cursor === undefined) return {}
  const last = steps.at(-1)
  if (last === undefined) return { newerHref: hrefOf({}) }
  if (last === FORGOTTEN) return { newestHref: hrefOf({}) }
  const before = { cursor: last, trail: written(steps.slice(0, -1)) }
  return { newestHref: hrefOf({}), newerHref: hrefOf(before) }
}

function written(steps: readonly string[]): string | undefined {
  const kept = steps.length > MOST_STEPS ? [FORGOTTEN, ...steps.slice(1 - MOST_STEPS)] : steps
  return kept.join('.') || undefined
}
