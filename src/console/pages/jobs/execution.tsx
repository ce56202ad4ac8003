import { type Attempt, Attempts } from '../../../../views/ui/charts/attempts.tsx'
import { TimingBar } from '../../../../views/ui/charts/timing-bar.tsx'
import { CodeBlock } from '../../../../views/ui/code.tsx'
import { Id } from '../../../../views/ui/id.tsx'
import { BodyView } from '../../../../views/ui/json.tsx'
import { Facts, Section } from '../../../../views/ui/section.tsx'
import { StatusBadge } from '../../../../views/ui/status.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { duration, Time } from '../../../../views/ui/time.tsx'
import type { Execution } from '../../../engines/clockwork/model.ts'
import type { ExecutionSummary } from '../../../engines/clockwork/queries.ts'
import { OUTCOMES, outcomeOf } from './words.tsx'

/** An attempt of a run. */
export const attemptOf = (of: ExecutionSummary, href: string, isSelected: boolean): Attempt => ({
  tone: OUTCOMES[of.status].tone,
  outcome: outcomeOf(of),
  at: of.startedAt,
  href,
  isSelected,
  ...(of.durationMs !== null && { took: of.durationMs }),
})

/** A planned attempt. */
export const plannedAt = (at: number): Attempt => ({
  tone: 'quiet',
  outcome: 'Next attempt',
  at,
  isPlanned: true,
})

/** One execution: start, delay, timing and the attempts of its run. */
export const ExecutionSection = (of: { execution: Execution; attempts: readonly Attempt[] }) => {
  const { execution, attempts } = of
  return (
    <Section
      id="run"
      title="Selected run"
      aside={<StatusBadge {...OUTCOMES[execution.status]} />}
      isCard
    >
      <Facts
        facts={[
          ['Execution ID', <Id id={execution.id} what="execution ID" />],
          ['Started', <Time at={Date.parse(execution.started_at)} />],
          ['Start delay', duration(execution.lateness_ms)],
          ['Trigger', execution.trigger === 'manual' ? 'Manual' : 'Schedule'],
          ...(execution.duration_ms === null
            ? []
            : [['Duration', duration(execution.duration_ms)] as const]),
          ...(execution.address === null
            ? []
            : [['IP address', <code>{execution.address}</code>] as const]),
        ]}
      />
      {execution.timings && <TimingBar timings={execution.timings} />}
      <Section id="attempts" title="Attempts">
        <Attempts attempts={attempts} />
      </Section>
    </Section>
  )
}

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
