/** Adds a member with the JSON in `text`, unparsed, so that payloads stay exactly as sent. */
export function jsonWith(value: object, name: string, text: string): Response {
  const json = `${JSON.stringify(value).slice(0, -1)},${JSON.stringify(name)}:${text}}`
  return new Response(json, { headers: { 'content-type': 'application/json;charset=utf-8' } })
}
