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

/** What is left of a time, in its two largest units. */
export function left(until: number, now: number): string {
  const distance = Math.max(0, until - now)
  const at = UNITS.findIndex(([size]) => distance >= size)
  if (at === -1) return '0 s'
  return UNITS.slice(at, at + 2)
    .map(([size, unit], place) => {
      const larger = place === 0 ? Number.POSITIVE_INFINITY : (UNITS[at]?.[0] ?? size)
      return `${Math.floor((distance % larger) / size)} ${unit}`
    })
    .join(' ')
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

/** What is left until a moment; it counts down while the page is open. */
export const Countdown = ({ until, now }: { until: number; now: number }) => (
  <time datetime={new Date(until).toISOString()} title={utc(until)}>
    <span data-left>{left(until, now)}</span>
    <span class="unseen"> (until {utc(until)})</span>
  </time>
)
