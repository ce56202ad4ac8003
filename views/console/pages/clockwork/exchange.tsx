import type { Execution } from '../../../../src/engines/clockwork/model.ts'
import { CodeBlock } from '../../code-block.tsx'
import { Facts } from '../../facts.tsx'
import { BodyView } from '../../json-view.tsx'
import { Section } from '../../section.tsx'
import { Text } from '../../text.tsx'

/** Current request of a job. */
export interface Call {
  url: string
  method: string
  headers: Readonly<Record<string, string>>
  body: string | null
  updated_at: string
}

/** Request and response of an execution. */
export const Exchange = ({ execution, call }: { execution: Execution; call: Call }) => (
  <div class="exchange">
    <Section id="request" title="Request" note={noteOn(call, execution)} isCard>
      <CodeBlock title="Headers" what="request headers" wraps>
        {requestHead(call, execution)}
      </CodeBlock>
      {call.body !== null && <BodyView title="Body" text={call.body} />}
    </Section>
    <Section id="response" title="Response" isCard>
      <Answer {...execution} />
    </Section>
  </div>
)

const noteOn = (call: Call, execution: Execution): string | undefined =>
  Date.parse(call.updated_at) > Date.parse(execution.started_at)
    ? 'The job was edited after this run. This is its current request.'
    : undefined

const Answer = ({ status, response_status: answered, response_body: text, ...of }: Execution) => (
  <>
    {status === 'running' && <p class="hint">Running. No response yet.</p>}
    {of.error_message !== null && (
      <p>
        <Text text={of.error_message} limit={400} />
      </p>
    )}
    {answered !== null && <Facts facts={[['Status', <code>{answered}</code>]]} />}
    {text !== null && <BodyView title="Body" text={text} />}
  </>
)

/** Request line and headers, without those that the connection adds. */
function requestHead({ method, url, headers }: Call, execution: Execution): string {
  const own = Object.entries(headers).filter(
    ([name]) => !name.toLowerCase().startsWith('x-clockwork-'),
  )
  const ours = [
    ['X-Clockwork-Execution-Id', execution.id],
    ['X-Clockwork-Attempt', `${execution.attempt}`],
  ]
  return [
    `${method} ${url}`,
    ...[...own, ...ours].map(([name, value]) => `${name}: ${value}`),
  ].join('\n')
}
