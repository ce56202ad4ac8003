import { isKnown, tagOf } from './entity-tag.ts'
import { SECURITY_HEADERS } from './security-headers.ts'

/** Status and headers of a response, as handlers set them. */
interface Settings {
  status?: number | string
  headers: Record<string, unknown>
}

/** Copied as a whole, at half the cost of parsing them from an object for each response. */
const USUAL_HEADERS = new Headers({
  ...SECURITY_HEADERS,
  'content-type': 'application/json;charset=utf-8',
})

/**
 * The JSON response for a plain value; undefined for anything else, such as a response. A list that
 * is read has an entity tag, and is 304 without a body for a client that has it: a client that polls
 * a list transfers it again only after a change.
 *
 * The value is recognized by its prototype. The framework would go by the name of the constructor, but
 * in free-form JSON a member called `constructor` is data.
 */
export function jsonResponse(request: Request, value: unknown, set: Settings) {
  if (!isPlain(value)) return undefined
  const text = JSON.stringify(value)
  if (request.method === 'GET' && set.status === 200 && isList(value)) {
    const etag = tagOf(text)
    if (isKnown(request, etag)) return new Response(null, { status: 304, headers: { etag } })
    set.headers.etag = etag
  }
  const response = new Response(text, { status: Number(set.status), headers: USUAL_HEADERS })
  for (const name in set.headers) {
    const value = set.headers[name]
    if (value !== SECURITY_HEADERS[name as never]) response.headers.set(name, `${value}`)
  }
  // Otherwise the framework would add them to a copy of the response.
  Object.assign(set, { status: 200, headers: {} })
  return response
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === Array.prototype || prototype === null
}

/** Lists are arrays, or pages with an array. */
const isList = (value: object): boolean =>
  Array.isArray(value) || ('data' in value && Array.isArray(value.data))
