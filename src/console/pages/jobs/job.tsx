import { AutoRefresh } from '../../../../views/layout/live.tsx'
import type { Attempt } from '../../../../views/ui/charts/attempts.tsx'
import { CurlBlock } from '../../../../views/ui/code.tsx'
import { DangerZone } from '../../../../views/ui/confirm.tsx'
import { ActionButton, LinkButton } from '../../../../views/ui/form/button.tsx'
import { Id } from '../../../../views/ui/id.tsx'
import { JsonView } from '../../../../views/ui/json.tsx'
import { Columns, Facts, PageHead, Section } from '../../../../views/ui/section.tsx'
import { shorten, Text } from '../../../../views/ui/text.tsx'
import { Time } from '../../../../views/ui/time.tsx'
import { capitalized } from '../../../../views/ui/words.ts'
import type { CronJobDetail, Execution } from '../../../engines/clockwork/model.ts'
import type { OpenRun } from '../../../engines/clockwork/queries.ts'
import { shownTo } from '../../../engines/clockwork/shown-job.ts'
import { good, type PageContext, page, usePage } from '../../page.tsx'
import { StartDelay } from './charts.tsx'
import {
  attemptOf,
  attemptsOf,
  ExactTime,
  Exchange,
  ExecutionSection,
  plannedAt,
} from './execution.tsx'
import { optionFacts } from './option-facts.tsx'
import { type JobRuns, Runs, skippedSlotsIn, useRunHref } from './runs.tsx'

const NEXT_RUNS = 5
/** Runs that have been due for longer are not about to start. */
const SOON_MS = 300_000
export const MAX_TITLE_LENGTH = 60

interface JobView extends JobRuns {
  /** Description of the schedule. */
  schedule: string
  nextRuns: readonly string[]
  /** Runs with an attempt to come, oldest first. */
  open: readonly OpenRun[]
}

/** One job: state, last runs, one run in detail, and actions. */
export const jobPage = page({
  path: '/jobs/:id',
  section: 'jobs',
  right: 'read',

  load(context): JobView {
    const { clockwork, tenantId, params, caller } = context
    const found = clockwork.jobs.get(tenantId, params.id)
    const runs = attemptsOf(context, found)
    const { description, next_runs: nextRuns } = clockwork.preview({
      schedule: found.schedule,
      time_zone: found.time_zone,
    })
    return {
      job: shownTo(caller('clockwork'), found),
      schedule: description,
      nextRuns: nextRuns.slice(0, NEXT_RUNS),
      ...runs,
      skippedSlots: skippedSlotsIn(found, runs.attempts),
      open: clockwork.queries.open(tenantId, params.id),
    }
  },

  title: ({ job }) => shorten(job.name, MAX_TITLE_LENGTH),

  view(job) {
    const { may, query, now } = usePage()
    const hrefOf = useRunHref(job)
    const hasRuns = job.attempts.length > 0
    return (
      <div id="job">
        {isInProgress(job, now) && <AutoRefresh id="job" here={hrefOf(query.execution)} />}
        <Head {...job} />
        {hasRuns && <Runs {...job} />}
        <SelectedRun {...job} />
        <Columns>
          <NextRuns {...job} />
          {hasRuns ? <StartDelay attempts={job.attempts} /> : <About {...job} />}
        </Columns>
        {hasRuns && <About {...job} />}
        <Api {...job} />
        {may('delete') && <Deletion {...job} />}
      </div>
    )
  },

  actions: {
    run: {
      right: 'change',
      flash: { tone: 'busy', text: "Run started. The schedule doesn't change." },
      run: ({ clockwork, caller, params }) =>
        clockwork.jobs.runNow(caller('clockwork'), params.id).then(() => {}),
    },
    pause: {
      right: 'change',
      flash: { tone: 'quiet', text: 'Job paused. Pending retries were dropped.' },
      run: (context) => setActive(context, context.params.id, false),
    },
    resume: {
      right: 'change',
      flash: good('Job resumed. Skipped runs are not repeated.'),
      run: (context) => setActive(context, context.params.id, true),
    },
    delete: {
      right: 'delete',
      flash: good('Job deleted with its run history.'),
      async run({ clockwork, caller, params }) {
        await clockwork.jobs.remove(caller('clockwork'), params.id)
        return { to: '/jobs' }
      },
    },
  },
})

/** Resuming an active job would restart its schedule. */
export async function setActive(
  { clockwork, tenantId, caller }: PageContext,
  id: string,
  isActive: boolean,
): Promise<void> {
  const { is_active: was } = clockwork.jobs.get(tenantId, id)
  if (was !== isActive)
    await clockwork.jobs.update(caller('clockwork'), id, { is_active: isActive })
}

function Head(page: JobView) {
  const { job } = page
  const { href, may, now } = usePage()
  const pathTo = (action: string) => href(`/jobs/${job.id}/${action}`)
  return (
    <PageHead
      title={<Text text={job.name} limit={120} />}
      state={stateOf(page, now)}
      {...(may('change') && {
        action: (
          <ActionButton weight="primary" action={pathTo('run')}>
            Run now
          </ActionButton>
        ),
        aside: (
          <>
            <LinkButton href={pathTo('edit')}>Edit job</LinkButton>
            <LinkButton href={href('/jobs/new', { from: job.id })}>Duplicate job</LinkButton>
            <ActionButton action={pathTo(job.is_active ? 'pause' : 'resume')}>
              {job.is_active ? 'Pause job' : 'Resume job'}
            </ActionButton>
          </>
        ),
      })}
    />
  )
}

/** Whether a run is in progress or about to start. */
const isInProgress = ({ attempts: [newest], open }: JobView, now: number): boolean =>
  newest?.status === 'running' ||
  open.some(({ state, dueAt }) => state === 'ready' && now - dueAt < SOON_MS)

/** State of a job in a sentence, with its next run. */
function stateOf(page: JobView, now: number) {
  const { job, schedule, attempts, open } = page
  const when = job.is_active ? (
    <>
      Runs {schedule}, next run <Time at={Date.parse(job.next_run_at)} />.
    </>
  ) : (
    <>Paused. Schedule: {schedule}.</>
  )
  if (isInProgress(page, now))
    return { tone: 'busy', sentence: <>A run is in progress. {when}</> } as const
  const ended = attempts.find(({ status }) => status !== 'running')
  if (!ended) return { tone: 'quiet', sentence: <>Not run yet. {when}</> } as const
  if (ended.status !== 'failed')
    return { tone: job.is_active ? 'good' : 'quiet', sentence: when } as const
  const retry = open.find(({ slotAt }) => slotAt === ended.slotAt)
  return {
    tone: 'bad',
    sentence: (
      <>
        Last run failed <Time at={ended.startedAt} />
        {retry && (
          <>
            ; next attempt <Time at={retry.dueAt} />
          </>
        )}
        . {when}
      </>
    ),
  } as const
}

function SelectedRun(page: JobView) {
  const { job, selected } = page
  const hrefOf = useRunHref(page)
  if (!selected) return null
  return (
    <Columns>
      <ExecutionSection execution={selected} attempts={attemptsOfRun(page, selected, hrefOf)} />
      <Exchange execution={selected} call={job} />
    </Columns>
  )
}

/** All attempts of the selected run, including the next planned one. */
function attemptsOfRun(
  { attempts, open }: JobView,
  selected: Execution,
  hrefOf: (id: string) => string,
): Attempt[] {
  const slotAt = Date.parse(selected.slot_at)
  const isOfRun = (of: { slotAt: number; trigger: string }) =>
    of.slotAt === slotAt && of.trigger === selected.trigger
  const made = attempts
    .filter(isOfRun)
    .toReversed()
    .map((attempt) => attemptOf(attempt, hrefOf(attempt.id), attempt.id === selected.id))
  return [...made, ...open.filter(isOfRun).map(({ dueAt }) => plannedAt(dueAt))]
}

const NextRuns = ({ job, nextRuns }: JobView) => (
  <Section id="next" title="Next runs" isCard>
    {job.is_active ? (
      <ol class="times">
        {nextRuns.map((run) => (
          <li>
            <ExactTime at={Date.parse(run)} zone={job.time_zone} />
          </li>
        ))}
      </ol>
    ) : (
      <p class="hint">None while paused. You can still select Run now.</p>
    )}
  </Section>
)

const About = ({ job, schedule }: JobView) => (
  <Section id="about" title="About" isCard>
    <Facts
      facts={[
        ['ID', <Id id={job.id} what="job ID" />],
        ['Schedule', <code>{job.schedule}</code>],
        ['Time zone', job.time_zone],
        ['Frequency', capitalized(schedule)],
        ['Request', <Text text={`${job.method} ${job.url}`} limit={120} />],
        ...optionFacts(job),
        ['Skipped slots (30 days)', skippedIn(job.skipped_slots)],
        ['Updated', <Time at={Date.parse(job.updated_at)} />],
        ['Created', <Time at={Date.parse(job.created_at)} />],
      ]}
    />
  </Section>
)

const skippedIn = ({ outage, overlap }: CronJobDetail['skipped_slots']): string =>
  outage + overlap === 0
    ? 'None'
    : `${outage} while the service was down, ${overlap} while runs were in progress`

const Api = ({ job }: JobView) => (
  <Section id="program" title="API">
    <details class="fold">
      <summary>View JSON</summary>
      <JsonView title="Job" value={job} isOpen />
    </details>
    <CurlBlock
      title="Run this job"
      method="POST"
      url={`${usePage().baseUrl()}/v1/clockwork/jobs/${job.id}/run`}
      headers={{ Authorization: 'Bearer $GATEHOUSE_KEY' }}
    />
  </Section>
)

const Deletion = ({ job }: JobView) => (
  <DangerZone
    items={[
      {
        text: "This can't be undone.",
        id: 'delete',
        verb: 'Delete job',
        question: 'Delete this job?',
        consequence: 'Deletes the job and its run history.',
        action: usePage().href(`/jobs/${job.id}/delete`),
      },
    ]}
  />
)
