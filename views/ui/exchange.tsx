import type { Attempt } from '../../src/http/delivery-log/model.ts'
import { TimingBar } from './charts/timing-bar.tsx'
import { CodeBlock } from './code.tsx'
import { BodyView } from './json.tsx'
import { Columns, Section } from './section.tsx'
import { LongText } from './text.tsx'

/** Request, response and timing of one attempt. */
export const Exchange = (exchange: {
  request: Attempt['request']
  /** Undefined if nothing was sent. */
  requestBody: string | undefined
  response: Attempt['response']
  error: Attempt['error']
  /** Omitted if another part of the page shows it. */
  timings?: Attempt['timings']
  /** The request has not been sent yet. */
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
                {exchange.isPlanned ? 'Not sent yet.' : 'Not sent: the attempt failed first.'}
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
        <Section id="timing" title="Timing">
          <TimingBar timings={timings} />
        </Section>
      )}
    </>
  )
}

/** Code and message of a failed attempt, such as `timeout: no response within 15 s`. */
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
  return <p>{isPlanned ? 'No response yet.' : 'No response.'}</p>
}

const Headers = (head: {
  /** Request line, shown first. */
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
