import type { Execution } from '../../../../src/engines/clockwork/model.ts'
import { CodeBlock } from '../../code-block.tsx'
import { Facts } from '../../facts.tsx'
import { BodyView } from '../../json-view.tsx'
import { Section } from '../../section.tsx'
import { Text } from '../../text.tsx'

/** What a job sends, now. */
export interface Call {
  url: string
  method: string
  headers: Readonly<Record<string, string>>
  body: string | null
  updated_at: string
}

/** What we sent, and what came back. */
export const Exchange = ({ execution, call }: { execution: Execution; call: Call }) => (
  <div class="exchange">
    <Section id="request" title="Request" note={noteOn(call, execution)} isCard>
      <CodeBlock title="Head" what="request head" wraps>
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
    ? 'The job was changed after this run: here is what it sends now.'
    : undefined

const Answer = ({ status, response_status: answered, response_body: text, ...of }: Execution) => (
  <>
    {status === 'running' && <p class="hint">Under way: there is no answer yet.</p>}
    {of.error_message !== null && (
      <p>
        <Text text={of.error_message} limit={400} />
      </p>
    )}
    {answered !== null && <Facts facts={[['Status', <code>{answered}</code>]]} />}
    {text !== null && <BodyView title="Body" text={text} />}
  </>
)

/** As it goes over the wire, less what the connection adds. */
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
