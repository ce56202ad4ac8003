/**
 * Writes `value` as JSON with an additional member `name`, whose value is the valid JSON in `text`.
 * The text is not parsed, so that a payload is returned exactly as the tenant sent it.
 */
export function jsonWith(value: object, name: string, text: string): Response {
  const json = `${JSON.stringify(value).slice(0, -1)},${JSON.stringify(name)}:${text}}`
  return new Response(json, { headers: { 'content-type': 'application/json;charset=utf-8' } })
}
