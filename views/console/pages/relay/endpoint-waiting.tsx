import { MAX_COUNTED, type Waiting } from '../../../../src/engines/relay/endpoint-summaries.ts'
import { Moment } from './state.tsx'

/** Next retry and number of held deliveries of an endpoint. */
export const WaitingWords = ({ waiting, now }: { waiting: Waiting; now: number }) => {
  const { next_attempt_at: next, held } = waiting
  if (next === null && held === 0) return <>None</>
  return (
    <>
      {next !== null && (
        <>
          Retry <Moment at={next} now={now} />
        </>
      )}
      {next !== null && held > 0 && ', '}
      {held > 0 && `${heldWords(held)} held`}
    </>
  )
}

/** Number of held deliveries, up to the counting limit. */
export const heldWords = (held: number): string =>
  `${held.toLocaleString('en')}${held >= MAX_COUNTED ? '+' : ''}`
