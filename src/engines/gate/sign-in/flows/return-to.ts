import { invalid } from '../../../../platform/errors.ts'

const MAX_LENGTH = 2000

/** Allows URLs at or below an entry; with no entries, any, because only key holders set them. */
export function checkReturnTo(text: string, allowed: readonly string[]): string {
  if (text.length > MAX_LENGTH)
    throw invalid(`must have at most ${MAX_LENGTH} characters`, {
      field: 'X-Return-To',
      rule: 'too_long',
    })
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:\/\//i.test(text) || url.username || url.password)
    throw invalid('must be an http or https URL without user and password', {
      field: 'X-Return-To',
      rule: 'format',
    })
  // biome-ignore lint/suspicious/noControlCharactersInRegex: browsers read over these
  if (/[\x00-\x20\x7f\\]/.test(text))
    throw invalid('must not contain spaces, control characters or backslashes', {
      field: 'X-Return-To',
      rule: 'characters',
    })
  if (allowed.length > 0 && !allowed.some((entry) => covers(new URL(entry), url)))
    throw invalid('must be one of the return URLs of the tenant', {
      field: 'X-Return-To',
      rule: 'not_allowed',
    })
  return url.href
}

/** Whether `url` is at or below `entry`. Encoded slashes (%2F) are ambiguous and refused. */
function covers(entry: URL, url: URL): boolean {
  if (entry.origin !== url.origin || /%2f|%5c/i.test(url.pathname)) return false
  const folder = entry.pathname.endsWith('/') ? entry.pathname : `${entry.pathname}/`
  return url.pathname === entry.pathname || url.pathname.startsWith(folder)
}

/** A URL with additional query parameters. */
export function withQuery(address: string, query: Record<string, string>): string {
  const url = new URL(address)
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
  return url.href
}
