/**
 * `value` as JSON with one more member, `name`, spelled as in `text`, which is valid JSON itself:
 * what a tenant sent us is shown again as it was, whatever JavaScript would make of it.
 */
export function jsonWith(value: object, name: string, text: string): Response {
  const json = `${JSON.stringify(value).slice(0, -1)},${JSON.stringify(name)}:${text}}`
  return new Response(json, { headers: { 'content-type': 'application/json;charset=utf-8' } })
}
