import { Sparkline } from '../../../../views/console/charts/sparkline.tsx'
import { PAGES } from '../../../../views/console/layout/navigation.ts'
import { type Tile, Tiles } from '../../../../views/console/tiles.tsx'
import { url } from '../../../../views/console/url.ts'
import { numeral } from '../../../../views/console/words.ts'
import type { JobTally } from '../../../engines/clockwork/store/read-model.ts'

/** Number of events today, in UTC. */
export interface DayCount {
  today: number
  /** Same period of the same day last week. */
  lastWeek: number
  /** By hour, the current one last. */
  hours: readonly number[]
  /** Some hour exceeds the counting limit. */
  isCut: boolean
}

export interface Today {
  signIns: DayCount
  runs: DayCount
  logins: DayCount
  deliveries: DayCount
  jobs: JobTally
}

/** Today's numbers, compared with the same hours of last week. */
export const TodayTiles = ({ base, today }: { base: string; today: Today }) => (
  <Tiles
    label="Today"
    tiles={[
      { ...dayTile('Sign-ins', today.signIns), href: url(base, PAGES.identities.path) },
      { ...dayTile('Runs', today.runs), href: url(base, PAGES.jobs.path) },
      { ...dayTile('Messenger logins', today.logins), href: url(base, PAGES.logins.path) },
      { ...dayTile('Deliveries', today.deliveries), href: url(base, PAGES.deliveries.path) },
    ]}
  />
)

function dayTile(label: string, count: DayCount): Tile {
  const { today, hours, isCut } = count
  const value = numeral(today)
  return {
    label: `${label} today`,
    value: isCut ? `${value} or more` : value,
    compared: { text: comparedOf(count) },
    picture: (
      <Sparkline
        values={hours}
        label={`${label} per hour in the last 24 hours, at most ${numeral(Math.max(...hours))}`}
      />
    ),
  }
}

/** Difference to the same hours of last week. */
function comparedOf({ today, lastWeek }: DayCount): string {
  if (lastWeek === 0) return today === 0 ? 'None last week' : '0 at this time last week'
  const percent = Math.round(((today - lastWeek) / lastWeek) * 100)
  if (percent === 0) return 'Same as last week'
  return `${percent > 0 ? '+' : '−'}${numeral(Math.abs(percent))}% vs. last week`
}
