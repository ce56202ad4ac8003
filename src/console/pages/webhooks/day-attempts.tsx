import {
  attemptsOf,
  HourBars,
  type HourTally,
  hourBarsOf,
  shareOf,
} from '../../../../views/ui/charts/hour-bars.tsx'
import { useHere } from '../../../../views/ui/here.tsx'
import { counted } from '../../../../views/ui/words.ts'

/** Attempts of the last 24 hours in one line. */
export const DayAttempts = ({ hours }: { hours: readonly HourTally[] }) => (
  <figure class="dayattempts">
    <HourBars
      bars={hourBarsOf(hours, useHere().now)}
      label="Attempts in the last 24 hours, by hour"
    />
    <figcaption>
      <span>{counted(attemptsOf(hours), 'attempt')} in 24 h</span>
      <span>{attemptsOf(hours) > 0 && `${shareOf(hours)} delivered`}</span>
    </figcaption>
  </figure>
)
