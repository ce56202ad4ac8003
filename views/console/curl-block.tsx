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
  const curl = LISTS.test(url) ? 'curl -g' : 'curl'
  const lines = [
    method === undefined || method === usual
      ? `${curl} ${quoted(url)}`
      : `${curl} -X ${method} ${quoted(url)}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined
      ? []
      : [`-d ${quoted(typeof body === 'string' ? body : JSON.stringify(body))}`]),
  ]
  return lines.join(' \\\n  ')
}

/** What curl would take for a list of addresses, and call each of them. */
const LISTS = /[[\]{}]/

/**
 * In single quotes, where a shell reads all as it is; with one exception that we alone write, the key
 * that whoever pastes the command has in a variable.
 */
const quoted = (text: string): string =>
  /^Authorization: Bearer \$[A-Z_]+$/.test(text)
    ? `"${text}"`
    : `'${text.replaceAll("'", String.raw`'\''`)}'`
