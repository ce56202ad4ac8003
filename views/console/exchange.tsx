import type { Attempt } from '../../src/http/delivery-log/model.ts'
import { TimingBar } from './charts/timing-bar.tsx'
import { CodeBlock } from './code-block.tsx'
import { BodyView } from './json-view.tsx'
import { Columns, Section } from './section.tsx'
import { LongText } from './text.tsx'

/** Of one attempt: what was sent and what came back, side by side, and where the time went. */
export const Exchange = (exchange: {
  request: Attempt['request']
  /** Undefined where there was nobody to send it to. */
  requestBody: string | undefined
  response: Attempt['response']
  error: Attempt['error']
  /** Left out where the page shows it in its own way. */
  timings?: Attempt['timings']
  /** Nothing has been tried yet: this is what will be sent. */
  isPlanned?: boolean
}) => {
  const { request, requestBody, timings } = exchange
  return (
    <>
      <Columns>
        <Section id="request" title="Request">
          <div class="stack">
            {requestBody !== undefined && <BodyView title="Body" text={requestBody} />}
            {request === null ? (
              <p class="hint">
                {exchange.isPlanned ? 'Not sent yet.' : 'Nothing was sent: it failed before.'}
              </p>
            ) : (
              <Headers
                first={`${request.method} ${request.url}`}
                pairs={Object.entries(request.headers)}
              />
            )}
          </div>
        </Section>
        <Section id="response" title="Response">
          <div class="stack">
            <Answer {...exchange} />
          </div>
        </Section>
      </Columns>
      {timings && (
        <Section id="timing" title="Where the time went">
          <TimingBar timings={timings} />
        </Section>
      )}
    </>
  )
}

/** Why there is no answer, in code and words, such as `timeout: no answer within 15 s`. */
export const wordsOf = ({ code, message }: NonNullable<Attempt['error']>): string =>
  message === '' ? code : `${code}: ${message}`

const Answer = ({
  response,
  error,
  isPlanned,
}: Pick<Attempt, 'response' | 'error'> & { isPlanned?: boolean }) => {
  if (response)
    return (
      <>
        <BodyView title={`Status ${response.status}`} text={response.body} />
        <Headers pairs={response.headers.map(([name = '', value = '']) => [name, value])} />
      </>
    )
  if (error)
    return (
      <p>
        <LongText text={wordsOf(error)} />
      </p>
    )
  return <p>{isPlanned ? 'No answer yet.' : 'No answer.'}</p>
}

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
