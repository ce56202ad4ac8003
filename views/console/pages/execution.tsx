import type { ExecutionLook } from '../../../src/engines/clockwork/looks.ts'
import type { Execution } from '../../../src/engines/clockwork/model.ts'
import { type Attempt, Attempts } from '../charts/attempts.tsx'
import { TimingBar } from '../charts/timing-bar.tsx'
import { CodeBlock } from '../code-block.tsx'
import { Facts } from '../facts.tsx'
import { Id } from '../id.tsx'
import { BodyView } from '../json-view.tsx'
import { Columns, Section } from '../section.tsx'
import { StatusMark } from '../status-mark.tsx'
import { Text } from '../text.tsx'
import { duration, Time } from '../time.tsx'
import type { Tone } from '../tone.ts'

/** How an attempt stands, by its status. */
export const OUTCOMES = {
  success: { tone: 'good', word: 'succeeded' },
  failed: { tone: 'bad', word: 'failed' },
  running: { tone: 'busy', word: 'running' },
} as const satisfies Record<Execution['status'], { tone: Tone; word: string }>

/** What a job sends, now. */
export interface Call {
  url: string
  method: string
  headers: Readonly<Record<string, string>>
  body: string | null
  updated_at: string
}

/** What came of an attempt, in a line. */
export const outcomeOf = ({
  status,
  responseStatus,
}: Pick<ExecutionLook, 'status' | 'responseStatus'>) =>
  status === 'running'
    ? 'Under way'
    : responseStatus === null
      ? status === 'success'
        ? 'Succeeded'
        : 'No answer'
      : `Answered ${responseStatus}`

/** An attempt in the list of those that a run took. */
export const attemptOf = (of: ExecutionLook, href: string, isSelected: boolean): Attempt => ({
  tone: OUTCOMES[of.status].tone,
  outcome: outcomeOf(of),
  at: of.startedAt,
  href,
  isSelected,
  ...(of.durationMs !== null && { took: of.durationMs }),
})

/** How one attempt went: when, how late, in how many tries, and where the time went. */
export const ExecutionSection = (of: {
  execution: Execution
  attempts: readonly Attempt[]
  now: number
}) => {
  const { execution, attempts, now } = of
  return (
    <Section
      id="run"
      title="Selected run"
      aside={<StatusMark {...OUTCOMES[execution.status]} />}
      isCard
    >
      <Facts
        facts={[
          ['Execution', <Id id={execution.id} what="execution id" />],
          ['Started', <Time at={Date.parse(execution.started_at)} now={now} />],
          ['Began late by', duration(execution.lateness_ms)],
          ['By', execution.trigger === 'manual' ? 'hand' : 'the schedule'],
          ...(execution.duration_ms === null
            ? []
            : [['Took', duration(execution.duration_ms)] as const]),
          ...(execution.address === null
            ? []
            : [['Address called', <code>{execution.address}</code>] as const]),
        ]}
      />
      {execution.timings && <TimingBar timings={execution.timings} />}
      <Section id="attempts" title="Attempts of this run">
        <Attempts attempts={attempts} now={now} />
      </Section>
    </Section>
  )
}

/** What we sent, and what came back. */
export const Exchange = ({ execution, call }: { execution: Execution; call: Call }) => (
  <Columns>
    <Section
      id="request"
      title="Request"
      note={
        Date.parse(call.updated_at) > Date.parse(execution.started_at)
          ? 'The job was changed after this run: here is what it sends now.'
          : undefined
      }
      isCard
    >
      <CodeBlock title="Head" what="request head" wraps>
        {requestHead(call, execution)}
      </CodeBlock>
      {call.body !== null && <BodyView title="Body" text={call.body} />}
    </Section>
    <Section id="response" title="Response" isCard>
      <Answer {...execution} />
    </Section>
  </Columns>
)

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
