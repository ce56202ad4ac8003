import { numeral } from '../../../../views/ui/words.ts'
import { MAX_COUNTED, type Waiting } from '../../../engines/relay/endpoint-summaries.ts'
import { Moment } from './state.tsx'

/** Next retry and number of held deliveries of an endpoint. */
export const WaitingWords = ({ waiting }: { waiting: Waiting }) => {
  const { next_attempt_at: next, held } = waiting
  if (next === null && held === 0) return <>None</>
  return (
    <>
      {next !== null && (
        <>
          Retry <Moment at={next} />
        </>
      )}
      {next !== null && held > 0 && ', '}
      {held > 0 && `${heldWords(held)} held`}
    </>
  )
}

/** Number of held deliveries, up to the counting limit. */
export const heldWords = (held: number): string =>
  `${numeral(held)}${held >= MAX_COUNTED ? '+' : ''}`
