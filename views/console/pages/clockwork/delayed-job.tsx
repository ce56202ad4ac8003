import type { DelayedJob, Execution } from '../../../../src/engines/clockwork/model.ts'
import type { ExecutionSummary } from '../../../../src/engines/clockwork/queries.ts'
import { AutoRefresh } from '../../auto-refresh.tsx'
import { Confirm, DangerZone } from '../../confirm.tsx'
import { CurlBlock } from '../../curl-block.tsx'
import { Facts } from '../../facts.tsx'
import { Id } from '../../id.tsx'
import { JsonView } from '../../json-view.tsx'
import { PageHead } from '../../page-head.tsx'
import { Columns, Section } from '../../section.tsx'
import { StatusBadge } from '../../status-badge.tsx'
import { Text } from '../../text.tsx'
import { Time } from '../../time.tsx'
import { url } from '../../url.ts'
import { DELAYED_WORDS } from './delayed-words.ts'
import { Exchange } from './exchange.tsx'
import { attemptOf, ExecutionSection, plannedAt } from './execution.tsx'

interface DelayedJobPageProps {
  base: string
  apiUrl: string
  job: DelayedJob
  /** Newest first. */
  attempts: readonly ExecutionSummary[]
  selected: Execution | undefined
  /** Address of this page. */
  here: string
  mayDelete: boolean
  now: number
}

/** The page refreshes from 10 s before the run until 5 min after. */
const SOON_MS = 10_000
const IN_LINE_MS = 300_000

/** One delayed job: state, attempts, cancellation. */
export const DelayedJobPage = (page: DelayedJobPageProps) => {
  const { base, job, attempts, selected, now } = page
  const path = `/console/delayed/${job.id}`
  const hrefOf = (id: string) => url(base, path, { execution: id })
  return (
    <div id="job">
      {isInProgress(page) && <AutoRefresh id="job" here={page.here} />}
      <PageHead
        title={<Text text={job.name} limit={120} />}
        state={{ tone: DELAYED_WORDS[job.status].tone, sentence: sentenceOn(page) }}
      />
      {selected ? (
        <>
          <Columns>
            <ExecutionSection
              execution={selected}
              attempts={[
                ...attempts
                  .toReversed()
                  .map((of) => attemptOf(of, hrefOf(of.id), of.id === selected.id)),
                ...(job.status === 'pending' ? [plannedAt(Date.parse(job.run_at))] : []),
              ]}
              now={now}
            />
            <Exchange execution={selected} call={{ ...job, updated_at: job.created_at }} />
          </Columns>
          <About {...page} />
        </>
      ) : (
        <About {...page} />
      )}
      <ForPrograms {...page} />
      {page.mayDelete && job.status === 'pending' && (
        <Cancellation action={url(base, `${path}/cancel`)} />
      )}
    </div>
  )
}

const About = ({ job, now }: DelayedJobPageProps) => (
  <Section id="about" title="About" isCard>
    <Facts
      facts={[
        ['ID', <Id id={job.id} what="job ID" />],
        ['Status', <StatusBadge {...DELAYED_WORDS[job.status]} />],
        [DELAYED_WORDS[job.status].time, <Time at={Date.parse(job.run_at)} now={now} />],
        ['Request', <Text text={`${job.method} ${job.url}`} limit={120} />],
        ['Created', <Time at={Date.parse(job.created_at)} now={now} />],
      ]}
    />
  </Section>
)

const ForPrograms = ({ job, apiUrl }: DelayedJobPageProps) => (
  <Section id="program" title="API">
    <details class="fold">
      <summary>View JSON</summary>
      <JsonView title="Delayed job" value={job} isOpen />
    </details>
    <CurlBlock
      title="Get this job"
      url={`${apiUrl}/v1/clockwork/delayed/${job.id}`}
      headers={{ Authorization: 'Bearer $GATEHOUSE_KEY' }}
    />
  </Section>
)

const Cancellation = ({ action }: { action: string }) => (
  <DangerZone
    items={[
      {
        title: 'Cancel job',
        text: "The job won't run. This can't be undone.",
        control: (
          <Confirm
            id="cancel"
            verb="Cancel job"
            question="Cancel this job?"
            consequence="The job won't run or retry. Past attempts are kept for 30 days."
            action={action}
          />
        ),
      },
    ]}
  />
)

function isInProgress({ job, now }: DelayedJobPageProps): boolean {
  const due = Date.parse(job.run_at)
  const isDue = due - now < SOON_MS && now - due < IN_LINE_MS
  return job.status === 'running' || (job.status === 'pending' && isDue)
}

function sentenceOn({ job, attempts, now }: DelayedJobPageProps) {
  const runs = <Time at={Date.parse(job.run_at)} now={now} />
  switch (job.status) {
    case 'pending':
      return attempts.length === 0 ? <>Runs {runs}</> : <>Failed; next attempt {runs}</>
    case 'running':
      return 'Running'
    case 'success':
      return attempts.length > 1 ? `Succeeded on attempt ${attempts.length}` : 'Succeeded'
    case 'failed':
      return `Failed after ${attempts.length === 1 ? '1 attempt' : `${attempts.length} attempts`}. No further retries.`
    case 'cancelled':
      return 'Cancelled'
  }
}
