import { type Attempt, Attempts } from '../../../../views/ui/charts/attempts.tsx'
import { TimingBar } from '../../../../views/ui/charts/timing-bar.tsx'
import { CodeBlock } from '../../../../views/ui/code.tsx'
import { Id } from '../../../../views/ui/id.tsx'
import { BodyView } from '../../../../views/ui/json.tsx'
import { Facts, Section } from '../../../../views/ui/section.tsx'
import { StatusBadge, type Tone } from '../../../../views/ui/status.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { duration, minuteIn, Time, useTimes } from '../../../../views/ui/time.tsx'
import type { DelayedJob, Execution } from '../../../engines/clockwork/model.ts'
import type { ExecutionSummary } from '../../../engines/clockwork/queries.ts'
import { executionShownTo } from '../../../engines/clockwork/shown-job.ts'
import { DAY_MS } from '../../../platform/durations.ts'
import { fail, notFound } from '../../../platform/errors.ts'
import { type PageContext, usePage } from '../../page.tsx'

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
  /** Masked. */
  secret_headers: Readonly<Record<string, string>>
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
function requestHead({ method, url, ...call }: Call, execution: Execution): string {
  const own = Object.entries({ ...call.headers, ...call.secret_headers }).filter(
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

/** Label of an attempt, by status. */
export const OUTCOMES = {
  success: { tone: 'good', word: 'succeeded' },
  failed: { tone: 'bad', word: 'failed' },
  running: { tone: 'busy', word: 'running' },
} as const satisfies Record<Execution['status'], { tone: Tone; word: string }>

/** Outcome of an attempt: the response status, if there is one. */
export function outcomeOf({
  status,
  responseStatus,
}: Pick<ExecutionSummary, 'status' | 'responseStatus'>): string {
  if (status === 'running') return 'Running'
  if (responseStatus !== null) return `Status ${responseStatus}`
  return status === 'success' ? 'Succeeded' : 'No response'
}

/** Labels of a delayed job's status: in a row, as a filter, and of the job's time. */
export const DELAYED_WORDS: Record<
  DelayedJob['status'],
  { tone: Tone; word: string; label: string; time: string }
> = {
  pending: { tone: 'quiet', word: 'pending', label: 'Pending', time: 'Runs' },
  running: { tone: 'busy', word: 'running', label: 'Running', time: 'Scheduled for' },
  success: { tone: 'good', word: 'succeeded', label: 'Succeeded', time: 'Scheduled for' },
  failed: { tone: 'bad', word: 'failed', label: 'Failed', time: 'Scheduled for' },
  cancelled: { tone: 'quiet', word: 'cancelled', label: 'Cancelled', time: 'Scheduled for' },
}

/** The exact time of a run in the zone of its job and in that of the page, and how far away it is. */
export function ExactTime({ at, zone }: { at: number; zone: string }) {
  const { now } = usePage()
  const shown = minuteIn(at, zone)
  const { minute } = useTimes()
  return (
    <>
      {shown} {minute(at) !== shown && <span class="hint">{minute(at)}</span>}
      {Math.abs(at - now) < DAY_MS && (
        <span class="hint">
          <Time at={at} />
        </span>
      )}
    </>
  )
}

export interface JobAttempts {
  /** Newest first. */
  attempts: readonly ExecutionSummary[]
  selected: Execution | undefined
}

/** Attempts of a job, and the selected execution: from the query string, or the newest. */
export function attemptsOf(
  { clockwork: { queries }, tenantId, query, caller }: PageContext,
  job: { id: string; headers: Record<string, string> },
): JobAttempts {
  const attempts = queries.attempts(tenantId, job.id)
  const chosen = query.execution ?? attempts[0]?.id
  const found = chosen === undefined ? undefined : queries.attempt(tenantId, job.id, chosen)
  if (chosen !== undefined && !found) fail(notFound('execution not found'))
  return { attempts, selected: found && executionShownTo(caller('clockwork'), job, found) }
}
