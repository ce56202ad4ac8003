import { Section } from '../../../../views/ui/section.tsx'
import { useTimes } from '../../../../views/ui/time.tsx'
import { counted } from '../../../../views/ui/words.ts'
import type { Monitor } from '../../../engines/clockwork/monitors/model.ts'
import type { TransitionRow } from '../../../engines/clockwork/monitors/queries.ts'
import { DAY_MS } from '../../../platform/durations.ts'

const DAYS = 90
const HEIGHT = 28

/** The worst state of a day; undefined before the first ping. */
type DayState = Extract<Monitor['state'], 'up' | 'late' | 'down' | 'paused'> | undefined

interface Day {
  /** First millisecond of the UTC day. */
  start: number
  state: DayState
}

/** From bad to good. */
const WORST: readonly DayState[] = ['down', 'late', 'up', 'paused']
const CLASSES = { down: 'day-bad', late: 'day-warn', up: 'day-good', paused: 'day-none' } as const

/** The worst state of each of the last 90 days, and how often the monitor was down. */
export const History = (of: { transitions: readonly TransitionRow[] } & DayRange) => {
  const { minute } = useTimes()
  const days = daysOf(of)
  const outages = of.transitions.filter(({ to }) => to === 'down').length
  const words = `${counted(outages, 'outage')} in the last ${DAYS} days`
  const width = 100 / DAYS
  return (
    <Section id="history" title="History" note={words} isCard>
      <figure class="dayhistory">
        <svg height={HEIGHT} role="img" aria-label={words}>
          {days.map(({ start, state }, index) => (
            <rect
              class={state ? CLASSES[state] : 'day-none'}
              x={`${(index + 0.12) * width}%`}
              width={`${width * 0.76}%`}
              height={HEIGHT}
              rx="1"
            >
              <title>{`${minute(start).slice(0, 10)}: ${state ?? 'no pings'}`}</title>
            </rect>
          ))}
        </svg>
        <figcaption aria-hidden="true">
          <span>{DAYS} days ago</span>
          <span>Today</span>
        </figcaption>
      </figure>
    </Section>
  )
}

interface DayRange {
  now: number
  /** The state now, which is the only one if there was no change. */
  state: Monitor['state']
}

export const sinceOf = (now: number): number => now - (now % DAY_MS) - (DAYS - 1) * DAY_MS

function daysOf({ transitions, now, state }: { transitions: readonly TransitionRow[] } & DayRange) {
  const first = sinceOf(now)
  const days: Day[] = []
  let current = transitions[0]?.from ?? state
  for (let start = first; start <= now; start += DAY_MS) {
    const ofDay = transitions.filter(({ at }) => at >= start && at < start + DAY_MS)
    const seen = [current, ...ofDay.map(({ to }) => to)]
    current = seen.at(-1) ?? current
    days.push({ start, state: WORST.find((one) => one && seen.includes(one)) })
  }
  return days
}
