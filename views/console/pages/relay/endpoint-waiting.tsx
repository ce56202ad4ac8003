import { MOST_COUNTED, type Waiting } from '../../../../src/engines/relay/endpoint-looks.ts'
import { Moment } from './state.tsx'

/** What stands before an endpoint, in a few words: when it is tried again, and what is held. */
export const WaitingWords = ({ waiting, now }: { waiting: Waiting; now: number }) => {
  const { next_attempt_at: next, held } = waiting
  if (next === null && held === 0) return <>nothing held</>
  return (
    <>
      {next !== null && (
        <>
          retry <Moment at={next} now={now} />
        </>
      )}
      {next !== null && held > 0 && ', '}
      {held > 0 && `${heldWords(held)} held`}
    </>
  )
}

/** As far as they were counted. */
export const heldWords = (held: number): string =>
  `${held.toLocaleString('en')}${held >= MOST_COUNTED ? '+' : ''}`
