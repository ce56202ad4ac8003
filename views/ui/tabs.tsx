import { IN_PLACE } from './pager.tsx'
import type { Tone } from './status.tsx'
import { shortCount } from './words.ts'

export interface Tab {
  label: string
  href: string
  count?: number
  /** What the count is known up to. */
  most?: number
  isCurrent?: boolean
  /** Color of the count. */
  tone?: Tone
}

/** Tabs of a detail page. */
export const Tabs = ({ label, tabs }: { label: string; tabs: readonly Tab[] }) => (
  <Links style="tabs" label={label} tabs={tabs} />
)

/** Common filters of a list, with their number of rows. */
export const FilterChips = ({ label, tabs }: { label: string; tabs: readonly Tab[] }) => (
  <Links style="chips" label={label} tabs={tabs} />
)

const Links = ({ style, label, tabs }: { style: string; label: string; tabs: readonly Tab[] }) => (
  <nav class={style} aria-label={label}>
    {tabs.map((tab) => (
      <a href={tab.href} aria-current={tab.isCurrent ? 'page' : undefined} {...IN_PLACE}>
        {tab.label}
        {tab.count !== undefined && (
          <span class={tab.tone ? `count ${tab.tone}` : 'count'}>
            {shortCount(tab.count, tab.most ?? Number.POSITIVE_INFINITY)}
          </span>
        )}
      </a>
    ))}
  </nav>
)
