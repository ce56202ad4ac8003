import { Icon } from './icons.tsx'
import { IN_PLACE } from './in-place.ts'

/** Links to other pages of a list, usually from `pagesAlong` in trail.ts. */
export interface Pages {
  /** Set if there is more than one newer page. */
  newestHref?: string | undefined
  newerHref?: string | undefined
  olderHref?: string | undefined
  /** Shown and total rows, such as "50 of 1,204". */
  extent?: string | undefined
}

/** Pager of a keyset-paginated list, which has no page numbers. */
export const Pager = ({ newestHref, newerHref, olderHref, extent }: Pages) =>
  [newestHref, newerHref, olderHref, extent].every((part) => part === undefined) ? null : (
    <nav class="pager" aria-label="Pages">
      <p>{extent}</p>
      {newestHref !== undefined && (
        <a class="button small bare" rel="first" href={newestHref} {...IN_PLACE}>
          Newest
        </a>
      )}
      {newerHref !== undefined && (
        <a class="button small" rel="prev" href={newerHref} {...IN_PLACE}>
          <Icon name="left" />
          Newer
        </a>
      )}
      {olderHref !== undefined && (
        <a class="button small" rel="next" href={olderHref} {...IN_PLACE}>
          Older
          <Icon name="right" />
        </a>
      )}
    </nav>
  )
