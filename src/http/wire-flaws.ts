import { type AppError, invalid } from '../platform/errors.ts'

/** The most segments in a path, more than any route has. */
const MAX_SEGMENTS = 16

/** The decoded segments of a path as it was sent; undefined if one is empty or there are too many. */
export type SentSegments = Readonly<Record<string, string>> | undefined

/** Bun resolves dots and backslashes in URLs; only route parameters show the path as sent. */
export function byNumberOfSegments<Handler>(handler: Handler): Record<string, Handler> {
  const names = Array.from({ length: MAX_SEGMENTS }, (_, index) => `:s${index}`)
  const paths = names.map((_, index) => `/${names.slice(0, index + 1).join('/')}`)
  return Object.fromEntries(['/', ...paths].map((path) => [path, handler]))
}

/** Why a request is refused before routing: a proxy could read it as a different request. */
export function flawIn({ url, headers }: Request, segments: SentSegments): AppError | undefined {
  if (!isHost(headers.get('host')))
    return malformed('Host', 'must be one host name, with or without a port')
  if (!isAsSent(url, segments))
    return malformed(
      'path',
      `must have at most ${MAX_SEGMENTS} segments, no empty, . or .. segments, and no backslashes`,
    )
  if (headers.has('trailer'))
    return malformed('Trailer', 'is not supported; send the fields as headers')
  if (!isLength(headers.get('content-length')))
    return malformed('Content-Length', 'must be one number')
  return undefined
}

const malformed = (field: string, problem: string) =>
  invalid(problem, { field, rule: 'format', code: 'invalid_request' })

const HOST = /^(?:[\w.-]{1,253}|\[[\da-f:.]+\])(?::\d*)?$/i

/** Most requests are for the same host. */
let lastHost: string | undefined

/** Whether a `Host` header is a single host; Bun joins several headers with commas. */
function isHost(host: string | null): boolean {
  if (host === null) return false
  if (host === lastHost) return true
  if (!HOST.test(host) || !URL.canParse(`http://${host}`)) return false
  lastHost = host
  return true
}

function isAsSent(url: string, segments: SentSegments): boolean {
  if (segments === undefined) return hasEmptySegment(pathIn(url))
  for (const name in segments) if (!isPlain(segments[name] as string)) return false
  return true
}

/** Whether a path has an empty segment. The router answers 404 to such a path. */
const hasEmptySegment = (path: string): boolean =>
  path.includes('//') || (path !== '/' && path.endsWith('/'))

const isPlain = (segment: string): boolean =>
  segment !== '.' && segment !== '..' && !segment.includes('\\')

/** Bun passes two equal lengths on as a list, which can't be compared with a limit. */
const isLength = (length: string | null): boolean => length === null || /^\d+$/.test(length)

/** The path of a request's URL, which begins with the path if the host is not valid. */
export const pathIn = (url: string): string =>
  /^(?:https?:\/\/[^/]*)?([^?#]*)/i.exec(url)?.[1] ?? ''
