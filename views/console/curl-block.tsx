import { CodeBlock } from './code-block.tsx'

export interface CurlRequest {
  url: string
  method?: string
  headers?: Record<string, string>
  /** Text as it is, anything else as JSON. */
  body?: unknown
}

/** A request to take to a terminal, with values that work there. */
export const CurlBlock = ({ title = 'curl', ...request }: CurlRequest & { title?: string }) => (
  <CodeBlock title={title} what="command">
    {curlCommand(request)}
  </CodeBlock>
)

/** The command, quoted so that a shell reads each value as it is. */
export function curlCommand({ url, method, headers = {}, body }: CurlRequest): string {
  const usual = body === undefined ? 'GET' : 'POST'
  const lines = [
    method === undefined || method === usual
      ? `curl ${quoted(url)}`
      : `curl -X ${method} ${quoted(url)}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined
      ? []
      : [`-d ${quoted(typeof body === 'string' ? body : JSON.stringify(body))}`]),
  ]
  return lines.join(' \\\n  ')
}

/** Double quotes where a variable is to be filled in, single ones where nothing is. */
const quoted = (text: string): string =>
  /\$[A-Z_]+/.test(text) && !/["`\\]/.test(text)
    ? `"${text}"`
    : `'${text.replaceAll("'", String.raw`'\''`)}'`
