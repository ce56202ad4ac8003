import type { ComponentChildren } from 'preact'
import { errorIdOf, FieldError, idOf } from './form/field.tsx'
import { Icon } from './icons.tsx'
import { IN_PLACE } from './pager.tsx'

export interface Filter {
  name: string
  label: string
  value?: string
  options: readonly { value: string; label: string }[]
}

/** A filter that is typed. Times are in UTC. */
export interface FilterInput {
  name: string
  label: string
  value?: string | undefined
  type?: 'text' | 'date' | 'datetime-local'
  placeholder?: string
  isMono?: boolean
  /** Validation error, shown below the bar. */
  error?: string | undefined
}

/** Search and filters of a list, stored in the query string. `kept` are parameters of other parts of the page. */
export const FilterBar = (bar: {
  action: string
  search?: { label: string; value?: string; name?: string }
  filters?: readonly Filter[]
  inputs?: readonly FilterInput[]
  kept?: Record<string, string | undefined>
  /** Address without filters; undefined if none is set. */
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
    {bar.inputs?.map((input) => (
      <TextFilter {...input} />
    ))}
    {bar.children}
    <button type="submit" class={bar.inputs ? 'button small stays' : 'button small'}>
      Filter
    </button>
    {bar.clearHref !== undefined && (
      <a class="button small bare" href={bar.clearHref} {...IN_PLACE}>
        Clear
      </a>
    )}
    {bar.inputs?.map(({ name, error }) => (
      <FieldError name={name} error={error} />
    ))}
  </form>
)

const Choice = ({ name, label, value, options }: Filter) => (
  <label class={value ? 'choice chosen' : 'choice'}>
    <span>{label}</span>
    <select name={name} id={`filter-${name}`}>
      <option value="">Any</option>
      {options.map((option) => (
        <option value={option.value} selected={option.value === value}>
          {option.label}
        </option>
      ))}
    </select>
    <Icon name="down" />
  </label>
)

const TextFilter = (input: FilterInput) => (
  <label class={input.value ? 'choice chosen' : 'choice'}>
    <span>{input.label}</span>
    <input {...attributesOf(input)} />
  </label>
)

/** Loosely typed: attribute types depend on the type of the input. */
const attributesOf = (input: FilterInput): Record<string, unknown> => ({
  type: input.type ?? 'text',
  id: idOf(input.name),
  name: input.name,
  value: input.value,
  placeholder: input.placeholder,
  class: input.isMono ? 'mono' : undefined,
  'aria-invalid': input.error === undefined ? undefined : 'true',
  'aria-describedby': input.error === undefined ? undefined : errorIdOf(input.name),
  autocomplete: 'off',
  spellcheck: false,
})
