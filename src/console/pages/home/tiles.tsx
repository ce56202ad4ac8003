import { PAGES } from '../../../../views/layout/navigation.ts'
import { Sparkline } from '../../../../views/ui/charts/meter.tsx'
import { type Tile, Tiles } from '../../../../views/ui/tiles.tsx'
import { numeral } from '../../../../views/ui/words.ts'
import { usePage } from '../../page.tsx'
import type { DayCount, Today } from './day-counts.ts'

/** Today's numbers, compared with the same hours of last week. */
export function TodayTiles({ today }: { today: Today }) {
  const { href } = usePage()
  const { signIns, runs, logins, deliveries } = today
  return (
    <Tiles
      label="Today"
      tiles={[
        ...(signIns
          ? [{ ...dayTile('Sign-ins', signIns), href: href(PAGES.identities.path) }]
          : []),
        ...(runs ? [{ ...dayTile('Runs', runs), href: href(PAGES.jobs.path) }] : []),
        { ...dayTile('Messenger logins', logins), href: href(PAGES.logins.path) },
        { ...dayTile('Deliveries', deliveries), href: href(PAGES.deliveries.path) },
      ]}
    />
  )
}

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
