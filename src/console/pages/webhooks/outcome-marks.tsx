import { StatusShape } from '../../../../views/ui/status.tsx'
import { shorten } from '../../../../views/ui/text.tsx'
import { numeral, withoutScheme } from '../../../../views/ui/words.ts'
import { MAX_OUTCOMES, type MessageSummary } from '../../../engines/relay/messages.ts'
import type { Status } from '../../../http/delivery-log/model.ts'
import { DELIVERY_TONES, WORDS } from './state.tsx'

/** Marks in a row of a list. */
const SHOWN = 6

const WORST_FIRST: readonly Status[] = [
  'failed',
  'retrying',
  'held',
  'delivering',
  'pending',
  'cancelled',
  'succeeded',
]

/** A mark per delivery of a message, the worst first, each with its endpoint and status on hover. */
export const OutcomeMarks = (of: {
  outcomes: MessageSummary['outcomes']
  /** URLs of endpoints by ID. */
  endpoints: ReadonlyMap<string, string>
}) => {
  const { outcomes, endpoints } = of
  if (outcomes.length === 0) return <span class="hint">None</span>
  const worst = outcomes.toSorted(
    (one, other) => WORST_FIRST.indexOf(one.status) - WORST_FIRST.indexOf(other.status),
  )
  const rest = worst.length - SHOWN
  return (
    <ul class="marks">
      {worst.slice(0, SHOWN).map(({ endpointId, status }) => {
        const address = endpoints.get(endpointId)
        const name = address === undefined ? 'Deleted endpoint' : withoutScheme(address)
        const text = `${shorten(name, 80)}: ${WORDS[status]}`
        return (
          <li title={text}>
            <StatusShape tone={DELIVERY_TONES[status]} />
            <span class="unseen">{text}</span>
          </li>
        )
      })}
      {rest > 0 && (
        <li class="hint">
          +{numeral(rest)}
          {outcomes.length === MAX_OUTCOMES && ' or more'}
        </li>
      )}
    </ul>
  )
}
