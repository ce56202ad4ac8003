import { invalid } from '../errors.ts'

const MAX_HEADERS = 100
const MAX_NAME_LENGTH = 256
const MAX_VALUE_LENGTH = 8192
const MAX_HEAD_BYTES = 65_536

/** A token (RFC 9110). */
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
/** Visible Latin-1, space and tab, without line breaks and NUL, which could end a field early. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/** Headers of the connection and of message framing, which the client sets itself. */
const OWN_HEADERS = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Whether a header may be sent to the target; the case of its name doesn't matter. */
export function isForwardableHeader(name: string): boolean {
  const lower = name.toLowerCase()
  return !OWN_HEADERS.has(lower) && !lower.startsWith('proxy-')
}

/** Throws `invalid`, with the header, if a request can't carry these headers. */
export function checkHeaders(headers: Record<string, string>, field = 'headers'): void {
  const entries = Object.entries(headers)
  if (entries.length > MAX_HEADERS)
    throw invalid(`must have at most ${MAX_HEADERS} headers`, { field, rule: 'too_many' })
  checkEachHeader(headers, field)
  const size = entries.reduce((sum, [name, value]) => sum + name.length + value.length, 0)
  if (size > MAX_HEAD_BYTES)
    throw invalid(`must be at most ${MAX_HEAD_BYTES / 1024} KB in total`, {
      field,
      rule: 'too_large',
    })
}

/** Like `checkHeaders`, without limits on number and total size, which are for stored ones. */
export function checkEachHeader(headers: Record<string, string>, field = 'headers'): void {
  for (const [name, value] of Object.entries(headers)) checkHeader(name, value, field)
}

function checkHeader(name: string, value: string, field: string) {
  if (name === '') throw invalid('must not have a header without a name', { field, rule: 'format' })
  if (name.length > MAX_NAME_LENGTH) {
    throw invalid(
      `must not have a name longer than ${MAX_NAME_LENGTH} characters, such as ${shown(name)}`,
      { field, rule: 'too_long' },
    )
  }
  if (!NAME.test(name)) {
    throw invalid(`must have names of letters, digits and hyphens, unlike ${shown(name)}`, {
      field,
      rule: 'format',
    })
  }
  if (value.length > MAX_VALUE_LENGTH) {
    throw invalid(`must be at most ${MAX_VALUE_LENGTH / 1024} KB`, {
      field: `${field}.${name}`,
      rule: 'too_large',
    })
  }
  if (!VALUE.test(value)) {
    throw invalid('must only have characters that are allowed in a header', {
      field: `${field}.${name}`,
      rule: 'characters',
    })
  }
}

/** A quoted and shortened text with visible control characters. */
const shown = (text: string) => JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text)
