import { HourBars } from '../../charts/hour-bars.tsx'
import { attemptsOf, type HourTally, hourBarsOf, shareOf } from '../../hours.ts'
import { counted } from '../../words.ts'

/** Attempts of the last 24 hours in one line. */
export const DayAttempts = ({ hours, now }: { hours: readonly HourTally[]; now: number }) => (
  <figure class="dayattempts">
    <HourBars bars={hourBarsOf(hours, now)} label="Attempts in the last 24 hours, by hour" />
    <figcaption>
      <span>{counted(attemptsOf(hours), 'attempt')} in 24 h</span>
      <span>{attemptsOf(hours) > 0 && `${shareOf(hours)} delivered`}</span>
    </figcaption>
  </figure>
)
