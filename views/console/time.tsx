const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** From here on a date says more than a number of days. */
const LONG_AGO = 30 * DAY

const UNITS = [
  [DAY, 'd'],
  [HOUR, 'h'],
  [MINUTE, 'min'],
  [SECOND, 's'],
] as const

/** How long ago or from now, in one number; assets/console.js says the same while a page is open. */
export function relative(at: number, now: number): string {
  const distance = Math.abs(at - now)
  if (distance < SECOND) return 'now'
  if (distance > LONG_AGO) return dateOf(at)
  const [size, unit] = UNITS.find(([size]) => distance >= size) ?? [SECOND, 's']
  const amount = `${Math.floor(distance / size)} ${unit}`
  return at < now ? `${amount} ago` : `in ${amount}`
}

/** A span of time in the two digits that matter. */
export function duration(milliseconds: number): string {
  if (milliseconds < 1) return '0 ms'
  if (milliseconds < 999.5) return `${Math.round(milliseconds)} ms`
  if (milliseconds < MINUTE)
    return `${(milliseconds / SECOND).toFixed(milliseconds < 9950 ? 2 : 1)} s`
  if (milliseconds < HOUR)
    return `${Math.floor(milliseconds / MINUTE)} min ${Math.floor((milliseconds % MINUTE) / SECOND)} s`
  return `${Math.floor(milliseconds / HOUR)} h ${Math.floor((milliseconds % HOUR) / MINUTE)} min`
}

/** The instant, to the second. */
export const utc = (at: number): string =>
  `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')} UTC`

const dateOf = (at: number): string =>
  new Date(at).toLocaleDateString('en-GB', {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    timeZone: 'UTC',
  })

/** How far away a moment is, for those who skim; when exactly, for those who point or listen. */
export const Time = ({ at, now }: { at: number; now: number }) => (
  <time datetime={new Date(at).toISOString()} title={utc(at)}>
    <span data-relative>{relative(at, now)}</span>
    <span class="unseen"> ({utc(at)})</span>
  </time>
)
