import type { ComponentChildren } from 'preact'
import { CopyButton } from './id.tsx'

interface Block {
  /** Name or language of the code. */
  title: string
  /** Noun for the copy button; the title by default. */
  what?: string
  /** Wraps long lines. */
  wraps?: boolean
  children: ComponentChildren
}

/** Code with a copy button. Scrolls horizontally on its own. */
export const CodeBlock = ({ title, what = title, wraps, children }: Block) => (
  <figure class="codeblock">
    <figcaption>
      <span>{title}</span>
      <CopyButton what={what} />
    </figcaption>
    <pre class={wraps ? 'wraps' : undefined} tabindex={0}>
      <code>{children}</code>
    </pre>
  </figure>
)

export interface CurlRequest {
  url: string
  method?: string
  headers?: Record<string, string>
  /** Text is sent as is, anything else as JSON. */
  body?: unknown
}

/** A request as a curl command. */
export const CurlBlock = ({ title = 'curl', ...request }: CurlRequest & { title?: string }) => (
  <CodeBlock title={title} what="command">
    {curlCommand(request)}
  </CodeBlock>
)

/** A curl command, quoted for a POSIX shell. */
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

/** Characters that curl expands to a list of addresses unless `-g` is set. */
const LISTS = /[[\]{}]/

/** Single quotes, except for an Authorization header with a shell variable, which has to be expanded. */
const quoted = (text: string): string =>
  /^Authorization: Bearer \$[A-Z_]+$/.test(text)
    ? `"${text}"`
    : `'${text.replaceAll("'", String.raw`'\''`)}'`
