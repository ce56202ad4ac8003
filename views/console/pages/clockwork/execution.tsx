import type { Execution } from '../../../../src/engines/clockwork/model.ts'
import type { ExecutionSummary } from '../../../../src/engines/clockwork/queries.ts'
import { type Attempt, Attempts } from '../../charts/attempts.tsx'
import { TimingBar } from '../../charts/timing-bar.tsx'
import { Facts } from '../../facts.tsx'
import { Id } from '../../id.tsx'
import { Section } from '../../section.tsx'
import { StatusBadge } from '../../status-badge.tsx'
import { duration, Time } from '../../time.tsx'
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
      aside={<StatusBadge {...OUTCOMES[execution.status]} />}
      isCard
    >
      <Facts
        facts={[
          ['Execution ID', <Id id={execution.id} what="execution ID" />],
          ['Started', <Time at={Date.parse(execution.started_at)} now={now} />],
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
        <Attempts attempts={attempts} now={now} />
      </Section>
    </Section>
  )
}
