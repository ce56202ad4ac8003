import type { ComponentChildren } from 'preact'
import { Icon } from './icons.tsx'
import { IN_PLACE } from './in-place.ts'

export interface Filter {
  name: string
  label: string
  value?: string
  options: readonly { value: string; label: string }[]
}

/**
 * Search and filters of a list, kept in its address. `kept` are parts of the address that are
 * chosen elsewhere, as by chips. Lists without a search leave it out.
 */
export const FilterBar = (bar: {
  action: string
  search?: { label: string; value?: string; name?: string }
  filters?: readonly Filter[]
  kept?: Record<string, string | undefined>
  /** Where the list is whole again; given once something is filtered. */
  clearHref?: string
  children?: ComponentChildren
}) => (
  <form class="filterbar" method="get" action={bar.action} data-submits {...IN_PLACE}>
    {Object.entries(bar.kept ?? {}).map(
      ([name, value]) => value && <input type="hidden" name={name} value={value} />,
    )}
    {bar.search && (
      <label class="searchfield">
        <span class="unseen">{bar.search.label}</span>
        <Icon name="search" />
        <input
          type="search"
          id="filter-search"
          name={bar.search.name ?? 'q'}
          value={bar.search.value}
          placeholder={bar.search.label}
          autocomplete="off"
          spellcheck={false}
        />
      </label>
    )}
    {bar.filters?.map((filter) => (
      <Choice {...filter} />
    ))}
    {bar.children}
    <button type="submit" class="button small">
      Filter
    </button>
    {bar.clearHref !== undefined && (
      <a class="button small bare" href={bar.clearHref} {...IN_PLACE}>
        Clear
      </a>
    )}
  </form>
)

const Choice = ({ name, label, value, options }: Filter) => (
  <label class={value ? 'choice chosen' : 'choice'}>
    <span>{label}</span>
    <select name={name} id={`filter-${name}`}>
      <option value="">any</option>
      {options.map((option) => (
        <option value={option.value} selected={option.value === value}>
          {option.label}
        </option>
      ))}
    </select>
    <Icon name="down" />
  </label>
)
