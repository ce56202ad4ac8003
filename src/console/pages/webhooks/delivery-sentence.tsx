import { shorten } from '../../../../views/ui/text.tsx'
import { duration } from '../../../../views/ui/time.tsx'
import { counted } from '../../../../views/ui/words.ts'
import type { DeliveryDetail } from '../../../http/delivery-log/model.ts'
import { outcomeOf } from './attempt-outcome.ts'
import { Moment } from './state.tsx'

/** State of a delivery in a sentence. */
export function sentenceOn(delivery: DeliveryDetail) {
  const { status, attempts, ended_at: ended, next_attempt_at: next } = delivery
  const last = delivery.attempt_log.at(-1)
  const lastly = last && `${shorten(outcomeOf(last), 80)} after ${duration(last.duration_ms)}`
  const tried = counted(attempts, 'attempt')
  switch (status) {
    case 'pending':
      return (
        <>
          {attempts === 0 ? 'First' : 'Next'} attempt <Moment at={next} />
        </>
      )
    case 'delivering':
      return 'Delivering'
    case 'retrying':
      return (
        <>
          Attempt {attempts} failed{lastly && `: ${lastly}`}. Next attempt <Moment at={next} />
        </>
      )
    case 'held':
      return delivery.held_reason === 'breaker'
        ? 'Held until the failing endpoint recovers'
        : 'Held until the endpoint is resumed'
    case 'succeeded':
      return (
        <>
          Delivered <Moment at={ended} /> in {tried}
        </>
      )
    case 'failed':
      return (
        <>
          Failed <Moment at={ended} /> after {tried}
          {lastly && `. Last attempt: ${lastly}`}
        </>
      )
    case 'cancelled':
      return (
        <>
          Cancelled <Moment at={ended} /> after {tried}
        </>
      )
  }
}
