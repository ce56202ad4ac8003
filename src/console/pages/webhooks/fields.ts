import { FORMATS } from '../../../delivery/formats.ts'
import { MAX_CHANNELS, MAX_EVENT_TYPES } from '../../../engines/relay/limits.ts'
import type {
  Endpoint,
  EndpointChange,
  NewEndpoint,
  ReplayRequest,
} from '../../../engines/relay/model/endpoints.ts'
import type { Fields } from '../../../http/body.ts'
import { invalid } from '../../../platform/errors.ts'
import { trimmedText } from '../../form.ts'

const MAX_DESCRIPTION_LENGTH = 500
const FASTEST = 1000

/** Splits names at commas, spaces or lines. */
export const namesIn = (body: Fields, field: string): string[] =>
  trimmedText(body, field)
    .split(/[\s,]+/)
    .filter(Boolean)

export function channelsIn(body: Fields): string[] {
  const channels = namesIn(body, 'channels')
  if (channels.length > MAX_CHANNELS)
    throw invalid(`must be at most ${MAX_CHANNELS} channels`, {
      field: 'channels',
      rule: 'too_many',
    })
  return channels
}

/** Reads a new endpoint from a form. No event types means all. */
export function newEndpointIn(body: Fields): NewEndpoint {
  const secret = trimmedText(body, 'secret')
  return {
    ...endpointIn(body),
    active: trimmedText(body, 'active') === 'true',
    ...(secret !== '' && { secret }),
  }
}

/** Reads a change of an endpoint from a form, without the secret. */
export const changeIn = (body: Fields): EndpointChange => endpointIn(body)

function endpointIn(body: Fields): Omit<NewEndpoint, 'secret'> {
  const url = trimmedText(body, 'url')
  if (url === '')
    throw invalid('is required, such as https://example.com/hook', {
      field: 'url',
      rule: 'required',
    })
  const description = trimmedText(body, 'description')
  if ([...description].length > MAX_DESCRIPTION_LENGTH)
    throw invalid(`must have at most ${MAX_DESCRIPTION_LENGTH} characters`, {
      field: 'description',
      rule: 'too_long',
    })
  const eventTypes = namesIn(body, 'event_types')
  if (eventTypes.length > MAX_EVENT_TYPES)
    throw invalid(`must be at most ${MAX_EVENT_TYPES} event types`, {
      field: 'event_types',
      rule: 'too_many',
    })
  const format = FORMATS.find((one) => one === trimmedText(body, 'format'))
  if (!format)
    throw invalid(`must be one of ${FORMATS.join(', ')}`, { field: 'format', rule: 'choice' })
  return {
    url,
    description,
    event_types: eventTypes.length === 0 ? null : eventTypes,
    channels: channelsIn(body),
    format,
    headers: headersIn(body),
  }
}

/** Reads headers, one per line. */
export function headersIn(body: Fields): Record<string, string> {
  const lines = trimmedText(body, 'headers')
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
  const headers = lines.map((line) => {
    const colon = line.indexOf(':')
    if (colon < 1)
      throw invalid('must have one header per line, such as "X-Token: abc"', {
        field: 'headers',
        rule: 'format',
      })
    return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()] as const
  })
  if (new Set(headers.map(([name]) => name.toLowerCase())).size < headers.length)
    throw invalid('must not name a header twice', { field: 'headers', rule: 'duplicate' })
  return Object.fromEntries(headers)
}

/** Initial fields of the form of an endpoint. */
export const fieldsOf = (endpoint: Endpoint): Fields => ({
  url: endpoint.url,
  description: endpoint.description,
  event_types: endpoint.event_types?.join(', ') ?? '',
  channels: endpoint.channels.join(', '),
  format: endpoint.format,
  headers: Object.entries(endpoint.headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n'),
})

/** Reads the period, selection and rate of a replay. */
export function replayIn(fields: Fields): ReplayRequest {
  const until = trimmedText(fields, 'until')
  const which = trimmedText(fields, 'which') || 'undelivered'
  if (which !== 'undelivered' && which !== 'all')
    throw invalid('must be undelivered or all', { field: 'which', rule: 'choice' })
  return {
    since: trimmedText(fields, 'since'),
    ...(until !== '' && { until }),
    which,
    per_second: rateIn(trimmedText(fields, 'per_second') || '10'),
  }
}

function rateIn(text: string): number {
  const rate = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (rate < 1 || rate > FASTEST)
    throw invalid(`must be a whole number of 1 to ${FASTEST}`, {
      field: 'per_second',
      rule: 'range',
    })
  return rate
}

/** Number of messages of a replay that was just started, from the query string. */
export const replayedIn = ({ replayed = '' }: Record<string, string | undefined>) =>
  /^\d{1,6}$/.test(replayed) ? Number(replayed) : undefined
