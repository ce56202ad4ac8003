/** Identifies content: an entity tag, with its quotes (RFC 9110, 8.8.3). */
export const tagOf = (content: string | Uint8Array): string => `"${Bun.hash(content).toString(36)}"`

/** Whether the client has what the tag identifies: RFC 9110, 13.1.2. */
export const isKnown = ({ headers }: Request, tag: string): boolean =>
  (headers.get('if-none-match') ?? '')
    .split(',')
    .map((one) => one.trim().replace(/^W\//, ''))
    .some((one) => one === tag || one === '*')

/**
 * A list as JSON with its entity tag, or 304 without a body for a client that has it. A client that
 * polls a list transfers it again only after a change. Undefined for everything but a GET of a list.
 */
export function asTaggedList(request: Request, value: unknown): Response | undefined {
  if (request.method !== 'GET' || !isList(value)) return undefined
  const text = JSON.stringify(value)
  const etag = tagOf(text)
  if (isKnown(request, etag)) return new Response(null, { status: 304, headers: { etag } })
  return new Response(text, { headers: { 'content-type': JSON_TYPE, etag } })
}

/** Lists are arrays, or pages with an array. */
const isList = (value: unknown): boolean =>
  Array.isArray(value) || Array.isArray((value as { data?: unknown } | null | undefined)?.data)

const JSON_TYPE = 'application/json;charset=utf-8'
