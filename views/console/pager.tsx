import { Icon } from './icons.tsx'
import { IN_PLACE } from './in-place.ts'

/** Made by `pagesAlong` in trail.ts, unless a list can be read backwards. */
export interface Pages {
  /** Where there is more than one page before this one. */
  newestHref?: string | undefined
  newerHref?: string | undefined
  olderHref?: string | undefined
  /** What is shown of how much, such as "50 of 1,204". */
  extent?: string | undefined
}

/** Through a list by its keys: there are no page numbers, which would move while somebody reads. */
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
