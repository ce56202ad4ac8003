import type { Execution } from '../../../../src/engines/clockwork/model.ts'
import type { ExecutionSummary } from '../../../../src/engines/clockwork/queries.ts'
import { ExecutionStrip, type StripRun } from '../../charts/execution-strip.tsx'
import { type Column, DataTable } from '../../data-table.tsx'
import { Icon } from '../../icons.tsx'
import { IN_PLACE } from '../../in-place.ts'
import { Section } from '../../section.tsx'
import { StatusBadge } from '../../status-badge.tsx'
import { duration, Time, utcMinute } from '../../time.tsx'
import { amount, OUTCOMES, outcomeOf } from './words.tsx'

interface RunsProps {
  /** Newest first. */
  attempts: readonly ExecutionSummary[]
  /** Number of skipped slots before each run, by slot. */
  skippedSlots: ReadonlyMap<number, number>
  selected: Execution | undefined
  /** Also shows the runs as a list. */
  isListed: boolean
  hrefOf: (query: { execution?: string | undefined; list?: string }) => string
  now: number
}

/** The last runs as a chart with a link to each, and links to the earlier and later run. */
export const Runs = (runs: RunsProps) => {
  const { attempts, selected, isListed, hrefOf } = runs
  const execution = selected?.id
  return (
    <Section
      id="runs"
      title="Runs"
      note={extentOf(attempts)}
      aside={
        isListed ? (
          <a href="#list">View as list</a>
        ) : (
          <a href={`${hrefOf({ execution, list: 'all' })}#list`}>View as list</a>
        )
      }
      isCard
    >
      <ExecutionStrip runs={stripOf(runs)} label="Last runs, oldest first" />
      <Steps {...runs} />
    </Section>
  )
}

/** The last runs as a table. */
export const RunList = ({ attempts, hrefOf, now }: RunsProps) => (
  <Section id="list" title="All runs" note={extentOf(attempts)}>
    <DataTable
      caption="Last runs"
      columns={columns(now)}
      rows={attempts}
      hrefOf={({ id }) => hrefOf({ execution: id, list: 'all' })}
    />
  </Section>
)

/** Links to the earlier and later run, because the bars are no tab stops. */
const Steps = ({ attempts, selected, isListed, hrefOf }: RunsProps) => {
  const at = attempts.findIndex(({ id }) => id === selected?.id)
  if (at < 0) return null
  const to = (id: string) => hrefOf({ execution: id, ...(isListed && { list: 'all' }) })
  const [later, earlier] = [attempts[at - 1], attempts[at + 1]]
  return (
    <nav class="runsteps" aria-label="Runs">
      {earlier && (
        <a class="button small" rel="prev" href={to(earlier.id)} {...IN_PLACE}>
          <Icon name="left" />
          Earlier run
        </a>
      )}
      <p class="hint">
        {amount(attempts.length - at)} of {amount(attempts.length)}
      </p>
      {later && (
        <a class="button small" rel="next" href={to(later.id)} {...IN_PLACE}>
          Later run
          <Icon name="right" />
        </a>
      )}
    </nav>
  )
}

function extentOf(attempts: readonly ExecutionSummary[]): string {
  const failed = attempts.filter(({ status }) => status === 'failed').length
  return `${attempts.length === 1 ? '1 attempt' : `${amount(attempts.length)} attempts`}, ${failed} failed`
}

/** Bars, oldest first, with a gap for skipped slots. */
function stripOf({ attempts, skippedSlots, selected, isListed, hrefOf }: RunsProps) {
  return attempts.toReversed().flatMap((attempt): StripRun[] => {
    const { tone, word } = OUTCOMES[attempt.status]
    const href = hrefOf({ execution: attempt.id, ...(isListed && { list: 'all' }) })
    const isFirst = attempt.trigger === 'schedule' && attempt.attempt === 1
    const skipped = isFirst ? skippedSlots.get(attempt.slotAt) : undefined
    const when = utcMinute(attempt.startedAt)
    return [
      ...(skipped === undefined
        ? []
        : [{ href, when: `Before ${when}`, outcome: 'skipped', word: slots(skipped) } as const]),
      {
        href,
        when,
        outcome: tone,
        word,
        isSelected: attempt.id === selected?.id,
        ...(attempt.durationMs !== null && { took: attempt.durationMs }),
      },
    ]
  })
}

const slots = (skipped: number): string =>
  skipped === 1 ? '1 slot skipped' : `${skipped} slots skipped`

const columns = (now: number): Column<ExecutionSummary>[] => [
  { label: 'Started', isWide: true, cell: ({ startedAt }) => <Time at={startedAt} now={now} /> },
  {
    label: 'Status',
    narrow: 'corner',
    cell: ({ status }) => <StatusBadge {...OUTCOMES[status]} />,
  },
  { label: 'Response', cell: outcomeOf },
  { label: 'Attempt', align: 'right', cell: ({ attempt }) => attempt },
  { label: 'Start delay', align: 'right', cell: ({ latenessMs }) => duration(latenessMs) },
  {
    label: 'Duration',
    align: 'right',
    cell: ({ durationMs }) => (durationMs === null ? '–' : duration(durationMs)),
  },
]
