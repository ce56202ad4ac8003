import { capitalized } from '../../../../views/ui/words.ts'
import { bulkControls } from '../../bulk.ts'
import { ListChips } from '../../list.tsx'
import { type PageContext, usePage } from '../../page.tsx'
import {
  countsOf,
  ENDPOINT_STATES,
  ENDPOINT_TONES,
  ENDPOINT_WORDS,
  type EndpointState,
} from './state.tsx'

/** Actions on the selected endpoints, or webhooks of user events. */
export const endpointBulk = (
  of: Pick<Parameters<typeof bulkControls>[0], 'noun' | 'setActive' | 'remove'>,
) =>
  bulkControls({
    ...of,
    resumed: 'resumed. Held deliveries are being sent',
    confirm: 'Their URLs receive nothing more. Queued and held deliveries are cancelled.',
  })

/** The states of listed endpoints as filters. */
export function StateChips({ states }: { states: readonly EndpointState[] }) {
  const { state } = usePage().query
  const counts = countsOf(states)
  return (
    <ListChips
      name="state"
      all={states.length}
      chips={ENDPOINT_STATES.filter((one) => counts[one] > 0 || one === state).map((value) => ({
        value,
        label: capitalized(ENDPOINT_WORDS[value]),
        count: counts[value],
        tone: ENDPOINT_TONES[value],
      }))}
    />
  )
}

/** The state to which the query string limits a list. */
export const stateIn = ({ query }: Pick<PageContext, 'query'>): EndpointState | undefined =>
  ENDPOINT_STATES.find((one) => one === query.state)

/** Values by which endpoints are sorted. Without attempts, a share or time comes last at first. */
export const orderOfState = (state: EndpointState): number => ENDPOINT_STATES.indexOf(state)
export const orderOfShare = (share: number | undefined): number => share ?? 2
