import type { DayCount } from '../../../../src/console/pages/home/day-counts.ts'
import type { JobTally } from '../../../../src/engines/clockwork/store/glances.ts'
import { Sparkline } from '../../charts/sparkline.tsx'
import { PAGES } from '../../frame/navigation.ts'
import { type Tile, Tiles } from '../../tiles.tsx'
import { url } from '../../url.ts'
import { numeral } from '../../words.ts'

export interface Today {
  signIns: DayCount
  runs: DayCount
  logins: DayCount
  deliveries: DayCount
  jobs: JobTally
}

/** What each engine did today, against the same hours of last week. */
export const TodayTiles = ({ base, today }: { base: string; today: Today }) => (
  <Tiles
    label="Today"
    tiles={[
      { ...dayTile('Sign-ins', today.signIns), href: url(base, PAGES.identities.path) },
      { ...dayTile('Runs', today.runs), href: url(base, PAGES.jobs.path) },
      { ...dayTile('Logins by bot', today.logins), href: url(base, PAGES.logins.path) },
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
        label={`${label} hour by hour over 24 hours, ${numeral(Math.max(...hours))} in the busiest`}
      />
    ),
  }
}

/** Against the same hours; neither more nor less is good or bad by itself. */
function comparedOf({ today, lastWeek }: DayCount): string {
  if (lastWeek === 0) return today === 0 ? 'none last week' : '0 by now last week'
  const percent = Math.round(((today - lastWeek) / lastWeek) * 100)
  if (percent === 0) return 'as last week'
  return `${percent > 0 ? '+' : '−'}${numeral(Math.abs(percent))} % on last week`
}
