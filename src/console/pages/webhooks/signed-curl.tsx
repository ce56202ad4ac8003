import { CodeBlock } from '../../../../views/ui/code.tsx'
import { MASK } from '../../../delivery/custom-headers.ts'
import type { SignedRequest } from '../../../engines/relay/signed-requests.ts'

/** A signed request as a curl command, for operators who can retry. */
export const SignedCurl = ({ request, hint }: { request: SignedRequest; hint: string }) => (
  <details class="fold" id="curl">
    <summary>
      View as curl <span class="hint">{hint}</span>
    </summary>
    <div class="stack">
      {Object.values(request.headers).includes(MASK) && (
        <p class="hint">Replace {MASK} with your secret values.</p>
      )}
      <CodeBlock title="curl" what="command">
        {commandOf(request)}
      </CodeBlock>
    </div>
  </details>
)

/** A curl command. With `-g`, because curl expands brackets in addresses. */
export const commandOf = ({ url, headers, body }: SignedRequest): string =>
  [
    `curl -g ${quoted(url)}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    `--data-raw ${quoted(body)}`,
  ].join(' \\\n  ')

/** Quotes untrusted text for a shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`
