import { Pulse } from '../../charts/pulse.tsx'
import { attemptsOf, beatsOf, type HourTally, shareOf } from '../../hours.ts'
import { counted } from '../../words.ts'

/** Attempts of the last 24 hours in one line. */
export const DayPulse = ({ hours, now }: { hours: readonly HourTally[]; now: number }) => (
  <figure class="daypulse">
    <Pulse beats={beatsOf(hours, now)} label="Attempts in the last 24 hours, by hour" />
    <figcaption>
      <span>{counted(attemptsOf(hours), 'attempt')} in 24 h</span>
      <span>{attemptsOf(hours) > 0 && `${shareOf(hours)} delivered`}</span>
    </figcaption>
  </figure>
)
