import type { EndpointStats } from '../../../../src/engines/relay/endpoint-summaries.ts'
import { FilterBar } from '../../filter-bar.tsx'
import type { ListPosition } from '../../list-position.ts'
import { FilterChips } from '../../tabs.tsx'
import { shorten } from '../../text.tsx'
import { url } from '../../url.ts'
import { capitalized } from '../../words.ts'
import {
  countsOf,
  ENDPOINT_STATES,
  ENDPOINT_TONES,
  ENDPOINT_WORDS,
  type EndpointState,
} from './state.tsx'

/** Most characters in an option. */
const MAX_OPTION_LENGTH = 60

interface Filters {
  base: string
  state: EndpointState | undefined
  search: string
  type: string | undefined
  channel: string | undefined
}

/** The filters, and what there is to select. */
export interface EndpointFilterProps extends Filters {
  /** Endpoints that match all filters except the status. */
  meant: readonly EndpointStats[]
  types: readonly string[]
  channels: readonly string[]
}

/** Address of the list with its filters, at a position. */
export const endpointsHref = (
  { base, state, search, type, channel }: Filters,
  position: ListPosition = {},
): string => url(base, '/console/endpoints', { state, q: search, type, channel, ...position })

/** Filters of the list: status, search, event type and channel. */
export const EndpointFilters = (page: EndpointFilterProps) => {
  const { base, state, search, type, channel } = page
  const counts = countsOf(page.meant)
  return (
    <>
      <FilterChips
        label="Status"
        tabs={[
          {
            label: 'All',
            href: endpointsHref({ ...page, state: undefined }),
            count: page.meant.length,
            isCurrent: !state,
          },
          ...ENDPOINT_STATES.filter((one) => counts[one] > 0 || one === state).map((one) => ({
            label: capitalized(ENDPOINT_WORDS[one]),
            href: endpointsHref({ ...page, state: one }),
            count: counts[one],
            isCurrent: one === state,
            ...(ENDPOINT_TONES[one] === 'bad' && { tone: 'bad' as const }),
          })),
        ]}
      />
      <FilterBar
        action={url(base, '/console/endpoints')}
        search={{ label: 'Search by URL, description or ID', value: search }}
        filters={[
          { name: 'type', label: 'Event type', value: type, options: optionsOf(page.types, type) },
          ...(page.channels.length > 0 || channel
            ? [
                {
                  name: 'channel',
                  label: 'Channel',
                  value: channel,
                  options: optionsOf(page.channels, channel),
                },
              ]
            : []),
        ]}
        kept={{ state }}
        clearHref={search || state || type || channel ? url(base, '/console/endpoints') : undefined}
      />
    </>
  )
}

/** Options, including a selected name that is not in the list. */
const optionsOf = (names: readonly string[], chosen: string | undefined) =>
  (chosen === undefined || names.includes(chosen) ? names : [chosen, ...names]).map((name) => ({
    value: name,
    label: shorten(name, MAX_OPTION_LENGTH),
  }))
