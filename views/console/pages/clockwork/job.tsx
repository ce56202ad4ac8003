import type { CronJobDetail, Execution } from '../../../../src/engines/clockwork/model.ts'
import { AutoRefresh } from '../../auto-refresh.tsx'
import type { Attempt } from '../../charts/attempts.tsx'
import { Confirm, DangerZone } from '../../confirm.tsx'
import { CurlBlock } from '../../curl-block.tsx'
import { Facts } from '../../facts.tsx'
import { ActionButton, LinkButton } from '../../form/button.tsx'
import { Id } from '../../id.tsx'
import { JsonView } from '../../json-view.tsx'
import { PageHead } from '../../page-head.tsx'
import { Columns, Section } from '../../section.tsx'
import { Text } from '../../text.tsx'
import { Time } from '../../time.tsx'
import { url } from '../../url.ts'
import { capitalized } from '../../words.ts'
import { Exchange } from './exchange.tsx'
import { attemptOf, ExecutionSection, plannedAt } from './execution.tsx'
import { isInProgress, type JobRuns, stateOf } from './job-state.tsx'
import { RunList, Runs } from './runs.tsx'
import { StartDelay } from './start-delay.tsx'
import { UtcTime } from './words.tsx'

interface JobPageProps extends JobRuns {
  base: string
  apiUrl: string
  nextRuns: readonly string[]
  /** Number of skipped slots before each run, by slot. */
  skippedSlots: ReadonlyMap<number, number>
  selected: Execution | undefined
  /** Also shows the runs as a list. */
  isListed: boolean
  /** Address of this page. */
  here: string
  mayChange: boolean
  mayDelete: boolean
}

/** One job: state, last runs, one run in detail, and actions. */
export const JobPage = (page: JobPageProps) => {
  const { base, job, attempts, selected, now } = page
  const hrefOf = (query: { execution?: string | undefined; list?: string }) =>
    url(base, `/console/jobs/${job.id}`, query)
  return (
    <div id="job">
      {isInProgress(page) && <AutoRefresh id="job" here={page.here} />}
      <Head {...page} />
      {attempts.length > 0 && <Runs {...page} hrefOf={hrefOf} />}
      {selected && (
        <Columns>
          <ExecutionSection
            execution={selected}
            attempts={attemptsOf(page, selected, (id) => hrefOf({ execution: id }))}
            now={now}
          />
          <Exchange execution={selected} call={job} />
        </Columns>
      )}
      <Columns>
        <NextRuns {...page} />
        {attempts.length > 0 ? <StartDelay attempts={attempts} /> : <About {...page} />}
      </Columns>
      {page.isListed && attempts.length > 0 && <RunList {...page} hrefOf={hrefOf} />}
      {attempts.length > 0 && <About {...page} />}
      <ForPrograms {...page} />
      {page.mayDelete && <Deletion {...page} />}
    </div>
  )
}

const pathOf = ({ base, job }: JobPageProps, verb = '', query = {}) =>
  url(base, `/console/jobs/${job.id}${verb}`, query)

const Head = (page: JobPageProps) => {
  const { base, job } = page
  return (
    <PageHead
      title={<Text text={job.name} limit={120} />}
      state={stateOf(page)}
      {...(page.mayChange && {
        action: (
          <ActionButton weight="primary" action={pathOf(page, '/run')}>
            Run now
          </ActionButton>
        ),
        aside: (
          <>
            <LinkButton href={pathOf(page, '/edit')}>Edit job</LinkButton>
            <LinkButton href={url(base, '/console/jobs/new', { from: job.id })}>
              Duplicate job
            </LinkButton>
            <ActionButton action={pathOf(page, job.is_active ? '/pause' : '/resume')}>
              {job.is_active ? 'Pause job' : 'Resume job'}
            </ActionButton>
          </>
        ),
      })}
    />
  )
}

const NextRuns = ({ job, nextRuns, now }: JobPageProps) => (
  <Section id="next" title="Next runs" isCard>
    {job.is_active ? (
      <ol class="times">
        {nextRuns.map((run) => (
          <li>
            <UtcTime at={Date.parse(run)} now={now} />
          </li>
        ))}
      </ol>
    ) : (
      <p class="hint">None while paused. You can still select Run now.</p>
    )}
  </Section>
)

const About = ({ job, schedule, now }: JobPageProps) => (
  <Section id="about" title="About" isCard>
    <Facts
      facts={[
        ['ID', <Id id={job.id} what="job ID" />],
        ['Schedule', <code>{job.schedule}</code>],
        ['Frequency', capitalized(schedule)],
        ['Request', <Text text={`${job.method} ${job.url}`} limit={120} />],
        ['Skipped slots (30 days)', skippedIn(job.skipped_slots)],
        ['Updated', <Time at={Date.parse(job.updated_at)} now={now} />],
        ['Created', <Time at={Date.parse(job.created_at)} now={now} />],
      ]}
    />
  </Section>
)

const ForPrograms = ({ job, apiUrl }: JobPageProps) => (
  <Section id="program" title="API">
    <details class="fold">
      <summary>View JSON</summary>
      <JsonView title="Job" value={job} isOpen />
    </details>
    <CurlBlock
      title="Run this job"
      method="POST"
      url={`${apiUrl}/v1/clockwork/jobs/${job.id}/run`}
      headers={{ Authorization: 'Bearer $GATEHOUSE_KEY' }}
    />
  </Section>
)

const Deletion = (page: JobPageProps) => (
  <DangerZone
    items={[
      {
        title: 'Delete job',
        text: "This can't be undone.",
        control: (
          <Confirm
            id="delete"
            verb="Delete job"
            question="Delete this job?"
            consequence="Deletes the job and its run history."
            action={pathOf(page, '/delete')}
          />
        ),
      },
    ]}
  />
)

const skippedIn = ({ outage, overlap }: CronJobDetail['skipped_slots']): string =>
  outage + overlap === 0
    ? 'None'
    : `${outage} while the service was down, ${overlap} while runs were in progress`

/** All attempts of the selected run, including the next planned one. */
function attemptsOf(
  { attempts, open }: JobPageProps,
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
