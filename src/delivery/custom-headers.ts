import { invalid } from '../platform/errors.ts'
import { checkHeaders, isForwardableHeader } from '../platform/outbound/index.ts'
import { isSensitive, MASK } from '../platform/secret-headers.ts'

type Headers = Record<string, string>

const MAX_HEADERS = 50
/** In bytes. Headers are sent as Latin-1, so each character is one byte. */
const MAX_VALUE_BYTES = 4096
const MAX_HEAD_BYTES = 16_384

/** Headers that describe the request body and the sender. */
const OURS = new Set(['content-encoding', 'content-type', 'user-agent'])

/** Svix's library prefers `svix-*` to `webhook-*`, so a stray header breaks every signature. */
const OUR_PREFIXES = ['webhook-', 'svix-', 'x-svix-']

/**
 * Throws `invalid`, naming the header, if an endpoint may not add it to its requests. `brandName`
 * is the middle of `X-Service-Signature`. Names are checked before sizes, because an unchecked name
 * must not appear in a message, and our size limits, which are smaller, before those of the HTTP
 * client.
 */
export function checkCustomHeaders(headers: Headers, brandName: string): void {
  const names = Object.keys(headers)
  if (names.length > MAX_HEADERS)
    throw invalid(`must have at most ${MAX_HEADERS} headers`, {
      field: 'headers',
      rule: 'too_many',
    })
  checkHeaders(Object.fromEntries(names.map((name) => [name, ''])))
  checkNames(names, brandName)
  checkSizes(Object.entries(headers))
  checkHeaders(headers)
}

function checkNames(names: string[], brandName: string) {
  const seen = new Set<string>()
  for (const name of names) {
    const lower = name.toLowerCase()
    if (isReserved(name, brandName))
      throw invalid('is reserved and cannot be set', { field: `headers.${name}`, rule: 'reserved' })
    if (seen.has(lower))
      throw invalid('is set twice; names are not case-sensitive', {
        field: `headers.${name}`,
        rule: 'duplicate',
      })
    seen.add(lower)
  }
}

function checkSizes(entries: [name: string, value: string][]) {
  const long = entries.find(([, value]) => value.length > MAX_VALUE_BYTES)
  if (long)
    throw invalid(`must be at most ${MAX_VALUE_BYTES / 1024} KB`, {
      field: `headers.${long[0]}`,
      rule: 'too_large',
    })
  const size = entries.reduce((sum, [name, value]) => sum + name.length + value.length, 0)
  if (size > MAX_HEAD_BYTES)
    throw invalid(`must be at most ${MAX_HEAD_BYTES / 1024} KB in total`, {
      field: 'headers',
      rule: 'too_large',
    })
}

/** CGI and WSGI show `_` and `-` alike, so `webhook_id` would pass for `webhook-id`. */
function isReserved(name: string, brandName: string): boolean {
  const seen = name.toLowerCase().replaceAll('_', '-')
  if (!isForwardableHeader(seen) || OURS.has(seen)) return true
  return [...OUR_PREFIXES, `x-${brandName.toLowerCase()}-`].some((prefix) =>
    seen.startsWith(prefix),
  )
}

/** Returns a copy with the values of sensitive headers masked. */
export const maskHeaders = (headers: Headers): Headers =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, isSensitive(name) ? MASK : value]),
  )

/** In characters. A shorter part could occur in any text and is hardly a secret. */
const MIN_HIDDEN = 8

/** Hides sensitive values that a text repeats, whole or in part, such as one of several cookies. */
export const hideValues = (headers: Headers, text: string): string =>
  hideTexts(
    Object.entries(headers).flatMap(([name, value]) => (isSensitive(name) ? [value] : [])),
    text,
  )

/** Hides secrets that a text repeats, whole or in part. */
export function hideTexts(secrets: readonly string[], text: string): string {
  const parts = secrets
    .flatMap((value) => [value, ...value.split(/[\s,;=]+/)])
    .filter((part) => part.length >= MIN_HIDDEN && part !== MASK)
    .toSorted((one, other) => other.length - one.length)
  return parts.reduce((rest, part) => rest.replaceAll(part, MASK), text)
}

/** Restores the masked values that clients write back. Throws `invalid` if none is stored. */
export function keepMasked(
  next: Headers,
  stored: Headers,
  { field = 'headers', isSecret = isSensitive } = {},
): Headers {
  const known = new Map(
    Object.entries(stored).map(([name, value]) => [name.toLowerCase(), value] as const),
  )
  const kept = Object.entries(next).map(([name, value]) => {
    const old = value === MASK ? known.get(name.toLowerCase()) : value
    if (old === undefined && isSecret(name)) {
      throw invalid(`must have a value: there is no stored value to keep for ${MASK}`, {
        field: `${field}.${name}`,
        rule: 'mismatch',
      })
    }
    return [name, old ?? value] as const
  })
  return Object.fromEntries(kept)
}
