import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from './durations.ts'
import { invalid } from './errors.ts'

export const UTC = 'UTC'

/** What clocks in a zone show at a moment. */
interface WallTime {
  /** Such as `2026-11-22 15:05:09`. */
  text: string
  /** Distance to UTC, such as `GMT+1` or `UTC`. */
  offset: string
}

/** The time in a zone at a moment. */
export function wallTime(at: number, zone: string): WallTime {
  if (zone === UTC) return { text: isoText(at), offset: UTC }
  const parts = Object.fromEntries(
    formatOf(zone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  )
  const { year = '', month, day, hour, minute, second, timeZoneName = '' } = parts
  const text = `${year.padStart(4, '0')}-${month}-${day} ${hour}:${minute}:${second}`
  return { text, offset: timeZoneName }
}

/** A time for sentences, such as `2026-03-01 12:01 UTC`. */
export const utcMinute = (at: number): string => `${wallTime(at, UTC).text.slice(0, 16)} UTC`

/** A time in a zone by RFC 3339, such as `2026-11-22T15:05:09+01:00`. */
export function isoTimeIn(at: number, zone: string): string {
  const offset = offsetAt(at, zone)
  const distance = new Date(Math.abs(offset)).toISOString().slice(11, 16)
  const wall = new Date(at + offset).toISOString().slice(0, 19)
  return `${wall}${offset < 0 ? '-' : '+'}${distance}`
}

/**
 * The moment at which clocks in a zone show a time such as `2026-11-22T15:05`: the earlier one if they
 * show it twice. A time that they skip counts on from before the gap.
 * `NaN` for a text that is no time.
 */
export function momentIn(wall: string, zone: string): number {
  const shown = Date.parse(`${wall.replace(' ', 'T')}Z`)
  if (Number.isNaN(shown)) return shown
  const text = isoText(shown)
  const early = shown - offsetAt(shown - DAY_MS, zone)
  const late = shown - offsetAt(shown + DAY_MS, zone)
  const isShownAt = (at: number) => wallTime(at, zone).text === text
  return isShownAt(late) && !isShownAt(early) ? late : early
}

const OFFSET = /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?$/

/** How far clocks in a zone are ahead of UTC at a moment, in milliseconds. */
export function offsetAt(at: number, zone: string): number {
  const [, sign, hours, minutes, seconds = 0] = OFFSET.exec(offsetFormatOf(zone).format(at)) ?? []
  if (sign === undefined) return 0
  const distance =
    Number(hours) * HOUR_MS + Number(minutes) * MINUTE_MS + Number(seconds) * SECOND_MS
  return sign === '-' ? -distance : distance
}

const isoText = (at: number): string => new Date(at).toISOString().slice(0, 19).replace('T', ' ')

/**
 * The name of a time zone in its usual spelling. Throws `invalid` for a zone that is unknown, or that is
 * an offset: it would be wrong for half of the year.
 */
export function checkedTimeZone(name: string): string {
  if (usualSpellings().has(name)) return name
  if (!/^[a-z][\w/+-]{0,63}$/i.test(name)) throw noZone()
  try {
    // Not remembered, because each mix of upper and lower case would be kept.
    return createFormat(name).resolvedOptions().timeZone
  } catch {
    throw noZone()
  }
}

const noZone = () =>
  invalid('must be a time zone such as Europe/Berlin or America/New_York', {
    field: 'time_zone',
    rule: 'choice',
  })

let spellings: ReadonlySet<string> | undefined

const usualSpellings = (): ReadonlySet<string> =>
  (spellings ??= new Set([UTC, ...Intl.supportedValuesOf('timeZone')]))

/** Names of all zones, for a form. */
export const timeZones = (): readonly string[] => [...usualSpellings()]

/**
 * Keeps formats, because creating one takes as long as formatting a page of times. A stored zone that
 * only a later version knows is shown as UTC.
 */
function createFormats(create: (zone: string) => Intl.DateTimeFormat) {
  const formats = new Map<string, Intl.DateTimeFormat>()
  const createKnown = (zone: string) => {
    try {
      return create(zone)
    } catch {
      return create(UTC)
    }
  }
  return (zone: string): Intl.DateTimeFormat => {
    const known = formats.get(zone) ?? createKnown(zone)
    formats.set(zone, known)
    return known
  }
}

const createFormat = (zone: string) =>
  new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    timeZoneName: 'shortOffset',
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  })

const formatOf = createFormats(createFormat)

const offsetFormatOf = createFormats(
  (zone) => new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' }),
)
