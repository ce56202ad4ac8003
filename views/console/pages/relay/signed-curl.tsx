import { MASK } from '../../../../src/delivery/custom-headers.ts'
import type { SignedRequest } from '../../../../src/engines/relay/signed-requests.ts'
import { CodeBlock } from '../../code-block.tsx'

/** What a resend would send, to be sent from a terminal: drawn for those alone who may resend. */
export const SignedCurl = ({ request }: { request: SignedRequest }) => (
  <details class="fold" id="curl">
    <summary>
      As curl <span class="hint">signed just now, good for five minutes</span>
    </summary>
    <div class="stack">
      {Object.values(request.headers).includes(MASK) && (
        <p class="hint">Fill in what reads {MASK}: it is kept secret.</p>
      )}
      <CodeBlock title="curl" what="command">
        {commandOf(request)}
      </CodeBlock>
    </div>
  </details>
)

/** `-g`: curl would take brackets in an address for a list of addresses. */
export const commandOf = ({ url, headers, body }: SignedRequest): string =>
  [
    `curl -g ${quoted(url)}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    `--data-raw ${quoted(body)}`,
  ].join(' \\\n  ')

/** In single quotes nothing is the shell's, whoever has chosen the address and the headers. */
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`
