import { IN_PLACE } from './pager.tsx'
import type { Tone } from './status.tsx'

export interface Tab {
  label: string
  href: string
  count?: number
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
            {tab.count.toLocaleString('en')}
          </span>
        )}
      </a>
    ))}
  </nav>
)
