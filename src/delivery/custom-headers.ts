import { invalid } from '../platform/errors.ts'
import { checkHeaders, isForwardableHeader } from '../platform/outbound/index.ts'

type Headers = Record<string, string>

const MAX_HEADERS = 50
/** A header is sent as Latin-1, so that its characters are its bytes. */
const MAX_VALUE_BYTES = 4096
const MAX_HEAD_BYTES = 16_384

/** Stands in an answer for a value that is not shown. */
export const MASK = '********'

/** What describes the body that is sent, and who sends it. */
const OURS = new Set(['content-encoding', 'content-type', 'user-agent'])

/**
 * Those of Standard Webhooks, and those of Svix: its library prefers `svix-*` where it finds
 * both, so that a stray one fails every signature.
 */
const OUR_PREFIXES = ['webhook-', 'svix-', 'x-svix-']

/**
 * Parts of a name that announce a secret: `Authorization` and `X-Auth-Token`, `Cookie`,
 * `X-Api-Key`, `ApiKey` and `Subscription-Key`, `X-Vercel-Protection-Bypass`. Too wide rather
 * than too narrow: `X-Author` is masked for nothing, and loses nothing but being shown.
 */
const SENSITIVE =
  /auth|cookie|token|secret|pass|jwt|api[-_]?key|(^|[-_])key$|signature|credential|session/i

/** True for a header whose value is not shown to those who read the endpoint. */
export const isSensitive = (name: string): boolean => SENSITIVE.test(name)

/**
 * Throws `invalid`, naming the header, for what an endpoint may not add to its requests. The
 * brand's name is the middle of `X-Service-Signature`. Names come before sizes, because only a
 * checked name is fit for a message; and our sizes, being smaller, before those of the client.
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
      throw invalid('is set twice; case makes no difference', {
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

/** CGI and WSGI show a receiver `_` and `-` as one, so `webhook_id` would pass for ours. */
function isReserved(name: string, brandName: string): boolean {
  const seen = name.toLowerCase().replaceAll('_', '-')
  if (!isForwardableHeader(seen) || OURS.has(seen)) return true
  return [...OUR_PREFIXES, `x-${brandName.toLowerCase()}-`].some((prefix) =>
    seen.startsWith(prefix),
  )
}

/** A copy with the values of sensitive headers hidden. */
export const maskHeaders = (headers: Headers): Headers =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, isSensitive(name) ? MASK : value]),
  )

/** Characters: a shorter part of a value could be anywhere in a text, and is hardly a secret. */
const MIN_HIDDEN = 8

/**
 * Hides what a text repeats of sensitive values, as an answer does that shows its request: whole
 * ones, and their parts, such as a token without its scheme, or one cookie of several.
 */
export function hideValues(headers: Headers, text: string): string {
  const parts = Object.entries(headers)
    .filter(([name]) => isSensitive(name))
    .flatMap(([, value]) => [value, ...value.split(/[\s,;=]+/)])
    .filter((part) => part.length >= MIN_HIDDEN && part !== MASK)
    .toSorted((one, other) => other.length - one.length)
  return parts.reduce((rest, part) => rest.replaceAll(part, MASK), text)
}

/**
 * `next` with each hidden value replaced by the stored one, so that a client can write back
 * what it has read. Throws `invalid` where nothing is stored that the mask could stand for.
 */
export function keepMasked(next: Headers, stored: Headers): Headers {
  const known = new Map(
    Object.entries(stored).map(([name, value]) => [name.toLowerCase(), value] as const),
  )
  const kept = Object.entries(next).map(([name, value]) => {
    const old = value === MASK ? known.get(name.toLowerCase()) : value
    if (old === undefined && isSensitive(name)) {
      throw invalid(`must have a value of its own: no stored value replaces ${MASK}`, {
        field: `headers.${name}`,
        rule: 'mismatch',
      })
    }
    return [name, old ?? value] as const
  })
  return Object.fromEntries(kept)
}
