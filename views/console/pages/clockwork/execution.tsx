import type { ExecutionLook } from '../../../../src/engines/clockwork/looks.ts'
import type { Execution } from '../../../../src/engines/clockwork/model.ts'
import { type Attempt, Attempts } from '../../charts/attempts.tsx'
import { TimingBar } from '../../charts/timing-bar.tsx'
import { Facts } from '../../facts.tsx'
import { Id } from '../../id.tsx'
import { Section } from '../../section.tsx'
import { StatusMark } from '../../status-mark.tsx'
import { duration, Time } from '../../time.tsx'
import { OUTCOMES, outcomeOf } from './words.tsx'

/** An attempt in the list of those that a run took. */
export const attemptOf = (of: ExecutionLook, href: string, isSelected: boolean): Attempt => ({
  tone: OUTCOMES[of.status].tone,
  outcome: outcomeOf(of),
  at: of.startedAt,
  href,
  isSelected,
  ...(of.durationMs !== null && { took: of.durationMs }),
})

/** One that is still to be made. */
export const plannedAt = (at: number): Attempt => ({
  tone: 'quiet',
  outcome: 'Next attempt',
  at,
  isPlanned: true,
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
