import { Icon } from './icons.tsx'
import { IN_PLACE } from './in-place.ts'

export interface Pages {
  newerHref?: string
  olderHref?: string
  /** What is shown of how much, such as "50 of 1,204". */
  extent?: string
}

/** Through a list by its keys: there are no page numbers, which would move while somebody reads. */
export const Pager = ({ newerHref, olderHref, extent }: Pages) =>
  newerHref === undefined && olderHref === undefined && extent === undefined ? null : (
    <nav class="pager" aria-label="Pages">
      <p>{extent}</p>
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
