import type { Filter, FilterInput } from '../../views/ui/filter-bar.tsx'
import type { FormError } from '../../views/ui/here.tsx'
import { DAY_MS, HOUR_MS } from '../platform/durations.ts'
import { invalid } from '../platform/errors.ts'
import { momentIn, UTC } from '../platform/time-zone.ts'
import { timestampIn } from '../platform/timestamp.ts'

const PAST = [
  { value: '1h', label: 'Last hour', ms: -HOUR_MS },
  { value: '24h', label: 'Last 24 hours', ms: -DAY_MS },
  { value: '7d', label: 'Last 7 days', ms: -7 * DAY_MS },
  { value: '30d', label: 'Last 30 days', ms: -30 * DAY_MS },
] as const

const FUTURE = [
  { value: 'next-1h', label: 'Next hour', ms: HOUR_MS },
  { value: 'next-24h', label: 'Next 24 hours', ms: DAY_MS },
  { value: 'next-7d', label: 'Next 7 days', ms: 7 * DAY_MS },
] as const

const CUSTOM = 'custom'

type TimeQuery = Partial<Record<'within' | 'since' | 'until', string | undefined>>

/** The times to which a list is limited. */
export interface TimeFilter {
  since?: number | undefined
  until?: number | undefined
  isSet: boolean
  /** A range that can't be read matches nothing. */
  errors: readonly FormError[]
  /** For links that keep the filter. */
  query: TimeQuery
  filter: Filter
  /** Start and end of a custom range. */
  inputs: readonly FilterInput[]
}

/** Throws `invalid` for a range that can't be read, where no page can say so. */
export function checkTimeFilter(of: Parameters<typeof timeFilterIn>[0]): void {
  for (const { name } of timeFilterIn(of).errors)
    throw invalid('must be a date and time, with the end after the start', {
      field: name,
      rule: 'range',
    })
}

/** Reads the time filter of a list from the query string: a preset, or a range in the page's time zone. */
export function timeFilterIn(
  of: { query: TimeQuery; now: number; zone: string },
  { label = 'Time', hasFuture = false } = {},
): TimeFilter {
  const { query, now, zone } = of
  const presets = hasFuture ? [...FUTURE, ...PAST] : PAST
  const preset = presets.find(({ value }) => value === query.within)
  const [since, until] = [query.since || undefined, query.until || undefined]
  const isCustom = !preset && (query.within === CUSTOM || (since ?? until) !== undefined)
  const filter = {
    name: 'within',
    label,
    value: preset?.value ?? (isCustom ? CUSTOM : ''),
    options: [...presets, { value: CUSTOM, label: 'Custom range' }],
  }
  if (!isCustom)
    return {
      ...(preset && { since: now + Math.min(preset.ms, 0) }),
      ...(preset && hasFuture && { until: now + Math.max(preset.ms, 0) }),
      isSet: preset !== undefined,
      errors: [],
      query: { within: preset?.value },
      filter,
      inputs: [],
    }
  const range = { since: moment(since, zone), until: moment(until, zone) }
  const errors = errorsIn(range)
  return {
    ...(errors.length > 0 ? { since: 0, until: 0 } : range),
    isSet: true,
    errors,
    query: { within: CUSTOM, since, until },
    filter,
    inputs: [
      inputOf('since', 'From', { value: since, zone, errors }),
      inputOf('until', 'To', { value: until, zone, errors }),
    ],
  }
}

const TIME = /^(\d{4}-\d\d-\d\d)(T\d\d:\d\d)?(:\d\d(?:\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)?$/i

/** A time with a zone of its own, or one of the page's zone; a day begins at midnight. */
function moment(text: string | undefined, zone: string): number | undefined {
  if (text === undefined) return undefined
  const [, day = '', time = 'T00:00', seconds = ':00', own] = TIME.exec(text) ?? []
  const whole = `${day}${time}${seconds}`
  const at = timestampIn(`${whole}${own ?? 'Z'}`)
  return own !== undefined || Number.isNaN(at) ? at : momentIn(whole, zone)
}

function errorsIn({ since, until }: { since?: number | undefined; until?: number | undefined }) {
  const unreadable = Object.entries({ since, until }).filter(([, at]) => Number.isNaN(at))
  if (unreadable.length > 0)
    return unreadable.map(([name]) => ({
      name,
      message: `${name === 'since' ? 'From' : 'To'} must be a date and time, such as 2026-01-31T12:00`,
    }))
  return since !== undefined && until !== undefined && until <= since
    ? [{ name: 'until', message: 'To must be after From' }]
    : []
}

/** A picker shows no other values than local times, so any other becomes a text. */
function inputOf(
  name: string,
  label: string,
  of: { value: string | undefined; zone: string; errors: readonly FormError[] },
): FilterInput {
  const { value, zone, errors } = of
  const isLocal = /^(\d{4}-\d\d-\d\dT\d\d:\d\d)?$/.test(value ?? '')
  return {
    name,
    label: `${label} (${zone === UTC ? UTC : zone})`,
    value,
    type: isLocal ? 'datetime-local' : 'text',
    error: errors.find((error) => error.name === name)?.message,
  }
}
