import { FilterBar } from '../../filter-bar.tsx'
import { FilterChips } from '../../tabs.tsx'
import { shorten } from '../../text.tsx'
import type { ListPlace } from '../../trail.ts'
import { url } from '../../url.ts'
import type { EndpointList } from './endpoints.tsx'
import { countsOf, ENDPOINT_STATES, ENDPOINT_TONES } from './state.tsx'

/** Names in a list to choose from, which few read to its end. */
const LONGEST_OPTION = 60

type Filters = Pick<EndpointList, 'base' | 'state' | 'search' | 'type' | 'channel'>

/** The list as it is filtered, at some place in it. */
export const endpointsHref = (
  { base, state, search, type, channel }: Filters,
  place: ListPlace = {},
): string => url(base, '/console/endpoints', { state, q: search, type, channel, ...place })

/** Which endpoints: by how they stand, by what they are called, and by what they listen to. */
export const EndpointFilters = (page: EndpointList) => {
  const { base, state, search, type, channel } = page
  const counts = countsOf(page.meant)
  return (
    <>
      <FilterChips
        label="State"
        tabs={[
          {
            label: 'All',
            href: endpointsHref({ ...page, state: undefined }),
            count: page.meant.length,
            isCurrent: !state,
          },
          ...ENDPOINT_STATES.filter((one) => counts[one] > 0 || one === state).map((one) => ({
            label: one.charAt(0).toUpperCase() + one.slice(1),
            href: endpointsHref({ ...page, state: one }),
            count: counts[one],
            isCurrent: one === state,
            ...(ENDPOINT_TONES[one] === 'bad' && { tone: 'bad' as const }),
          })),
        ]}
      />
      <FilterBar
        action={url(base, '/console/endpoints')}
        search={{ label: 'Address, description or id', value: search }}
        filters={[
          { name: 'type', label: 'Listens to', value: type, options: optionsOf(page.types, type) },
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

/** One that is chosen can still be, also where it is not among them. */
const optionsOf = (names: readonly string[], chosen: string | undefined) =>
  (chosen === undefined || names.includes(chosen) ? names : [chosen, ...names]).map((name) => ({
    value: name,
    label: shorten(name, LONGEST_OPTION),
  }))
