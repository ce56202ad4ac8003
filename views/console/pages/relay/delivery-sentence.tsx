import type { DeliveryDetail } from '../../../../src/http/delivery-log/model.ts'
import { shorten } from '../../text.tsx'
import { duration } from '../../time.tsx'
import { counted } from '../../words.ts'
import { outcomeOf } from './attempt-outcome.ts'
import { Moment } from './state.tsx'

/** How a delivery stands, in one sentence. */
export function sentenceOn(delivery: DeliveryDetail, now: number) {
  const { status, attempts, ended_at: ended, next_attempt_at: next } = delivery
  const last = delivery.attempt_log.at(-1)
  const lastly = last && `${shorten(outcomeOf(last), 80)} after ${duration(last.duration_ms)}`
  const tried = counted(attempts, 'attempt')
  switch (status) {
    case 'pending':
      return (
        <>
          {attempts === 0 ? 'Its first' : 'The next'} attempt is due <Moment at={next} now={now} />.
        </>
      )
    case 'delivering':
      return 'An attempt is under way.'
    case 'retrying':
      return (
        <>
          Attempt {attempts}: {lastly ?? 'failed'}. The next one is <Moment at={next} now={now} />.
        </>
      )
    case 'held':
      return delivery.held_reason === 'breaker'
        ? 'Kept until its endpoint, which keeps failing, answers again.'
        : 'Kept until its endpoint, which is paused, takes deliveries again.'
    case 'succeeded':
      return (
        <>
          Delivered <Moment at={ended} now={now} /> with {tried}.
        </>
      )
    case 'failed':
      return (
        <>
          Given up <Moment at={ended} now={now} /> after {tried}
          {lastly && `, the last one: ${lastly}`}.
        </>
      )
    case 'cancelled':
      return (
        <>
          Cancelled <Moment at={ended} now={now} /> after {tried}.
        </>
      )
  }
}
