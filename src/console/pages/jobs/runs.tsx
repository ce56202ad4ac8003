import { ExecutionStrip, type StripRun } from '../../../../views/ui/charts/execution-strip.tsx'
import { Icon } from '../../../../views/ui/icons.tsx'
import { IN_PLACE } from '../../../../views/ui/pager.tsx'
import { Section } from '../../../../views/ui/section.tsx'
import { useTimes } from '../../../../views/ui/time.tsx'
import { counted, numeral } from '../../../../views/ui/words.ts'
import type { CronJob, CronJobDetail } from '../../../engines/clockwork/model.ts'
import type { ExecutionSummary } from '../../../engines/clockwork/queries.ts'
import { countOccurrences, readableSchedule } from '../../../engines/clockwork/schedule/index.ts'
import { usePage } from '../../page.tsx'
import { type JobAttempts, OUTCOMES } from './execution.tsx'

export interface JobRuns extends JobAttempts {
  job: CronJobDetail
  /** Number of skipped slots before each run, by slot. */
  skippedSlots: ReadonlyMap<number, number>
}

/** Addresses of a job's page with another run selected. */
export function useRunHref({ job }: JobRuns) {
  const { href } = usePage()
  return (execution: string | undefined) => href(`/jobs/${job.id}`, { execution })
}

/** The last runs as a chart with a link to each, and links to the earlier and later run. */
export const Runs = (runs: JobRuns) => (
  <Section
    id="runs"
    title="Runs"
    note={extentOf(runs.attempts)}
    aside={<a href={usePage().href(`/jobs/${runs.job.id}/runs`)}>View as list</a>}
    isCard
  >
    <ExecutionStrip
      runs={stripOf(runs, useRunHref(runs), useTimes().minute)}
      label="Last runs, oldest first"
    />
    <Steps {...runs} />
  </Section>
)

/** Links to the earlier and later run, because the bars are no tab stops. */
function Steps(runs: JobRuns) {
  const { attempts, selected } = runs
  const hrefOf = useRunHref(runs)
  const at = attempts.findIndex(({ id }) => id === selected?.id)
  if (at < 0) return null
  const [later, earlier] = [attempts[at - 1], attempts[at + 1]]
  return (
    <nav class="runsteps" aria-label="Runs">
      {earlier && (
        <a class="button small" rel="prev" href={hrefOf(earlier.id)} {...IN_PLACE}>
          <Icon name="left" />
          Earlier run
        </a>
      )}
      <p class="hint">
        {numeral(attempts.length - at)} of {numeral(attempts.length)}
      </p>
      {later && (
        <a class="button small" rel="next" href={hrefOf(later.id)} {...IN_PLACE}>
          Later run
          <Icon name="right" />
        </a>
      )}
    </nav>
  )
}

function extentOf(attempts: readonly ExecutionSummary[]): string {
  const failed = attempts.filter(({ status }) => status === 'failed').length
  return `${counted(attempts.length, 'attempt')}, ${failed} failed`
}

/** Bars, oldest first, with a gap for skipped slots. */
function stripOf(
  { attempts, skippedSlots, selected }: JobRuns,
  hrefOf: (execution: string) => string,
  minute: (at: number) => string,
): StripRun[] {
  return attempts.toReversed().flatMap((attempt): StripRun[] => {
    const { tone, word } = OUTCOMES[attempt.status]
    const href = hrefOf(attempt.id)
    const isFirst = attempt.trigger === 'schedule' && attempt.attempt === 1
    const skipped = isFirst ? skippedSlots.get(attempt.slotAt) : undefined
    const when = minute(attempt.startedAt)
    const gap = {
      href,
      when: `Before ${when}`,
      outcome: 'skipped',
      word: `${counted(skipped ?? 0, 'slot')} skipped`,
    } as const
    const bar = {
      href,
      when,
      outcome: tone,
      word,
      isSelected: attempt.id === selected?.id,
      ...(attempt.durationMs !== null && { took: attempt.durationMs }),
    }
    return skipped === undefined ? [bar] : [gap, bar]
  })
}

/** Skipped slots are counted up to this number. */
const MAX_SKIPPED = 100

/** Number of skipped slots before each run. Unknown before the last edit, when the schedule may have differed. */
export function skippedSlotsIn(
  job: CronJob,
  attempts: readonly ExecutionSummary[],
): Map<number, number> {
  const schedule = readableSchedule(job.schedule, job.time_zone)
  const since = Date.parse(job.updated_at)
  const started = attempts.flatMap(({ trigger, slotAt }) =>
    trigger === 'schedule' && slotAt >= since ? [slotAt] : [],
  )
  const slots = [...new Set(started)].sort((one, other) => one - other)
  const skippedSlots = new Map<number, number>()
  for (const [index, slot] of slots.entries()) {
    const before = slots[index - 1]
    if (before === undefined || !schedule) continue
    const skipped = countOccurrences(schedule, before, slot - 1, MAX_SKIPPED)
    if (skipped > 0) skippedSlots.set(slot, skipped)
  }
  return skippedSlots
}
