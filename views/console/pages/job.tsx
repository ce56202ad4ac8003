import type { ExecutionLook, OpenRun } from '../../../src/engines/clockwork/looks.ts'
import type { CronJobDetail, Execution } from '../../../src/engines/clockwork/model.ts'
import type { Attempt } from '../charts/attempts.tsx'
import { ExecutionStrip, type StripRun } from '../charts/execution-strip.tsx'
import { Confirm, DangerZone } from '../confirm.tsx'
import { CurlBlock } from '../curl-block.tsx'
import { type Column, DataTable } from '../data-table.tsx'
import { Facts } from '../facts.tsx'
import { ActionButton, LinkButton } from '../form/button.tsx'
import { Id } from '../id.tsx'
import { JsonView } from '../json-view.tsx'
import { PageHead } from '../page-head.tsx'
import { Columns, Section } from '../section.tsx'
import { StatusMark } from '../status-mark.tsx'
import { Text } from '../text.tsx'
import { duration, Time, utc } from '../time.tsx'
import { url } from '../url.ts'
import { attemptOf, Exchange, ExecutionSection, OUTCOMES, outcomeOf } from './execution.tsx'
import { UtcTime } from './jobs.tsx'

interface JobPageProps {
  base: string
  apiUrl: string
  job: CronJobDetail
  /** In words. */
  schedule: string
  nextRuns: readonly string[]
  /** The newest first. */
  attempts: readonly ExecutionLook[]
  /** Slots without a run before each that ran. */
  gaps: ReadonlyMap<number, number>
  selected: Execution | undefined
  open: readonly OpenRun[]
  mayChange: boolean
  mayDelete: boolean
  now: number
}

/** One job: whether it works, its last runs and one of them in full, and what can be done. */
export const JobPage = (page: JobPageProps) => {
  const { base, job, attempts, selected, now } = page
  const at = (verb = '') => url(base, `/console/jobs/${job.id}${verb}`)
  const hrefOf = (id: string) => `${url(base, `/console/jobs/${job.id}`, { execution: id })}#run`
  return (
    <>
      <PageHead
        title={<Text text={job.name} limit={120} />}
        state={stateOf(page)}
        {...(page.mayChange && {
          action: (
            <ActionButton weight="primary" action={at('/run')}>
              Run now
            </ActionButton>
          ),
          aside: (
            <>
              <LinkButton href={at('/edit')}>Edit job</LinkButton>
              <ActionButton action={at(job.is_active ? '/pause' : '/resume')}>
                {job.is_active ? 'Pause job' : 'Resume job'}
              </ActionButton>
            </>
          ),
        })}
      />
      <Columns>
        <Section id="runs" title="Runs" note={extentOf(attempts)} isCard>
          {attempts.length > 0 && (
            <>
              <ExecutionStrip runs={stripOf(page, hrefOf)} label="Last runs, the oldest first" />
              <details class="fold">
                <summary>As a list</summary>
                <DataTable
                  caption="Last runs"
                  columns={columns(now)}
                  rows={attempts}
                  hrefOf={({ id }) => hrefOf(id)}
                />
              </details>
            </>
          )}
          <NextRuns {...page} />
        </Section>
        {selected ? (
          <ExecutionSection
            execution={selected}
            attempts={attemptsOf(page, selected, hrefOf)}
            now={now}
          />
        ) : (
          <About {...page} />
        )}
      </Columns>
      {selected && <Exchange execution={selected} call={job} />}
      {selected && <About {...page} />}
      <Section id="program" title="For programs">
        <details class="fold">
          <summary>As JSON</summary>
          <JsonView title="Job" value={job} isOpen />
        </details>
        <CurlBlock
          title="Run it from a terminal"
          method="POST"
          url={`${page.apiUrl}/v1/clockwork/jobs/${job.id}/run`}
          headers={{ Authorization: 'Bearer $GATEHOUSE_KEY' }}
        />
      </Section>
      {page.mayDelete && (
        <DangerZone
          items={[
            {
              title: 'Delete it',
              text: 'With all its runs. This cannot be taken back.',
              control: (
                <Confirm
                  id="delete"
                  verb="Delete job"
                  question="Delete this job?"
                  consequence="It runs no more, and what its runs have left goes with it."
                  action={at('/delete')}
                />
              ),
            },
          ]}
        />
      )}
    </>
  )
}

const NextRuns = ({ job, nextRuns, now }: JobPageProps) => (
  <Section id="next" title="Next runs">
    {job.is_active ? (
      <ol>
        {nextRuns.map((run) => (
          <li>
            <UtcTime at={Date.parse(run)} now={now} />
          </li>
        ))}
      </ol>
    ) : (
      <p class="hint">None: it is paused. “Run now” works all the same.</p>
    )}
  </Section>
)

const About = ({ job, schedule, now }: JobPageProps) => (
  <Section id="about" title="About" isCard>
    <Facts
      facts={[
        ['Id', <Id id={job.id} what="job id" />],
        ['Schedule', <code>{job.schedule}</code>],
        ['In words', schedule],
        ['Calls', <Text text={`${job.method} ${job.url}`} limit={120} />],
        ['Slots skipped, 30 days', skippedIn(job.skipped_slots)],
        ['Changed', <Time at={Date.parse(job.updated_at)} now={now} />],
        ['Created', <Time at={Date.parse(job.created_at)} now={now} />],
      ]}
    />
  </Section>
)

/** The answer to whether it works, and what happens next. */
function stateOf({ job, schedule, attempts, open, now }: JobPageProps) {
  const when = job.is_active ? (
    <>
      Runs {schedule}, next <Time at={Date.parse(job.next_run_at)} now={now} />.
    </>
  ) : (
    <>Paused; would run {schedule}.</>
  )
  const [newest] = attempts
  const ended = attempts.find(({ status }) => status !== 'running')
  if (newest?.status === 'running')
    return { tone: 'busy', sentence: <>A run is under way. {when}</> } as const
  if (ended?.status === 'failed') {
    const retry = open.find(({ slotAt }) => slotAt === ended.slotAt)
    return {
      tone: 'bad',
      sentence: (
        <>
          Its last run failed <Time at={ended.startedAt} now={now} />
          {retry && (
            <>
              {' '}
              and is tried again <Time at={retry.dueAt} now={now} />
            </>
          )}
          . {when}
        </>
      ),
    } as const
  }
  const tone = job.is_active && ended ? 'good' : 'quiet'
  return { tone, sentence: ended ? when : <>It has not run yet. {when}</> } as const
}

function extentOf(attempts: readonly ExecutionLook[]): string {
  if (attempts.length === 0) return 'none yet'
  const failed = attempts.filter(({ status }) => status === 'failed').length
  return `${attempts.length === 1 ? '1 attempt' : `${attempts.length} attempts`}, ${failed} failed`
}

/** Oldest first, with a gap where slots passed without a run. */
function stripOf({ attempts, gaps, selected }: JobPageProps, hrefOf: (id: string) => string) {
  return attempts.toReversed().flatMap((attempt): StripRun[] => {
    const { tone, word } = OUTCOMES[attempt.status]
    const href = hrefOf(attempt.id)
    const isFirst = attempt.trigger === 'schedule' && attempt.attempt === 1
    const skipped = isFirst ? gaps.get(attempt.slotAt) : undefined
    const when = utc(attempt.startedAt)
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

const slots = (amount: number): string =>
  amount === 1 ? '1 slot skipped' : `${amount} slots skipped`

const skippedIn = ({ outage, overlap }: CronJobDetail['skipped_slots']): string =>
  outage + overlap === 0
    ? 'none'
    : `${outage} while the service was down, ${overlap} while runs were under way`

/** All attempts of the run that the chosen one is of, with the one to come. */
function attemptsOf(
  { attempts, open }: JobPageProps,
  selected: Execution,
  hrefOf: (id: string) => string,
): Attempt[] {
  const slotAt = Date.parse(selected.slot_at)
  const isOfRun = (of: { slotAt: number; trigger: string }) =>
    of.slotAt === slotAt && of.trigger === selected.trigger
  const coming = open.filter(isOfRun).map(
    ({ dueAt }): Attempt => ({
      tone: 'quiet',
      outcome: 'Next attempt',
      at: dueAt,
      isPlanned: true,
    }),
  )
  const made = attempts
    .filter(isOfRun)
    .toReversed()
    .map((attempt) => attemptOf(attempt, hrefOf(attempt.id), attempt.id === selected.id))
  return [...made, ...coming]
}

const columns = (now: number): Column<ExecutionLook>[] => [
  { label: 'Started', isWide: true, cell: ({ startedAt }) => <Time at={startedAt} now={now} /> },
  {
    label: 'Outcome',
    narrow: 'corner',
    cell: ({ status }) => <StatusMark {...OUTCOMES[status]} />,
  },
  { label: 'Answer', cell: outcomeOf },
  { label: 'Attempt', align: 'right', cell: ({ attempt }) => attempt },
  {
    label: 'Took',
    align: 'right',
    cell: ({ durationMs }) => (durationMs === null ? '–' : duration(durationMs)),
  },
]
