import type { Attempt } from '../../../../src/http/delivery-log/model.ts'
import { withoutBlanks } from '../../../../src/platform/json-text.ts'
import { CodeBlock } from '../../code-block.tsx'
import { BodyView } from '../../json-view.tsx'
import { Columns, Section } from '../../section.tsx'
import { LongText } from '../../text.tsx'

/** What was sent and what came back, side by side. */
export const Exchange = (exchange: {
  request: Attempt['request']
  requestBody: string
  response: Attempt['response']
  error: Attempt['error']
  /** Nothing has been tried yet: this is what will be sent. */
  isPlanned?: boolean
}) => {
  const { request, response, error } = exchange
  return (
    <Columns>
      <Section id="request" title="Request">
        <div class="stack">
          <ExactBody title="Body" text={exchange.requestBody} />
          {request === null ? (
            <p class="hint">
              {exchange.isPlanned ? 'Not sent yet.' : 'Nothing was sent: it failed before.'}
            </p>
          ) : (
            <Headers first={`POST ${request.url}`} pairs={Object.entries(request.headers)} />
          )}
        </div>
      </Section>
      <Section id="response" title="Response">
        <div class="stack">
          {response === null ? (
            <p>
              {error ? (
                <LongText text={wordsOf(error)} />
              ) : exchange.isPlanned ? (
                'No answer yet.'
              ) : (
                'No answer.'
              )}
            </p>
          ) : (
            <>
              <ExactBody title={`Status ${response.status}`} text={response.body} />
              <Headers pairs={response.headers.map(([name = '', value = '']) => [name, value])} />
            </>
          )}
        </div>
      </Section>
    </Columns>
  )
}

/** In code and words, such as `timeout: no answer within 15 s`. */
export const wordsOf = ({ code, message }: NonNullable<Attempt['error']>): string =>
  message === '' ? code : `${code}: ${message}`

const Headers = (head: {
  /** The line before them. */
  first?: string
  pairs: readonly (readonly [name: string, value: string])[]
}) => (
  <details class="fold">
    <summary>
      Headers <span class="hint">{head.pairs.length}</span>
    </summary>
    <CodeBlock title="Headers">
      {[...(head.first ? [head.first] : []), ...head.pairs.map((pair) => pair.join(': '))].join(
        '\n',
      )}
    </CodeBlock>
  </details>
)

/**
 * A body that is formatted only where that changes nothing: of a number with more digits than
 * JavaScript keeps, another one would be shown than was sent.
 */
export const ExactBody = ({ title, text }: { title: string; text: string }) =>
  isKept(text) ? (
    <BodyView title={title} text={text} />
  ) : (
    <CodeBlock title={title} wraps>
      {text}
    </CodeBlock>
  )

function isKept(text: string): boolean {
  try {
    return JSON.stringify(JSON.parse(text)) === withoutBlanks(text)
  } catch {
    return text === ''
  }
}
