import { AutoRefresh } from '../../../../views/layout/live.tsx'
import { CurlBlock } from '../../../../views/ui/code.tsx'
import { DangerZone } from '../../../../views/ui/confirm.tsx'
import { Id } from '../../../../views/ui/id.tsx'
import { JsonView } from '../../../../views/ui/json.tsx'
import { Columns, Facts, PageHead, Section } from '../../../../views/ui/section.tsx'
import { StatusBadge } from '../../../../views/ui/status.tsx'
import { shorten, Text } from '../../../../views/ui/text.tsx'
import { Time } from '../../../../views/ui/time.tsx'
import { counted } from '../../../../views/ui/words.ts'
import type { DelayedJob } from '../../../engines/clockwork/model.ts'
import { shownTo } from '../../../engines/clockwork/shown-job.ts'
import { good, page, usePage } from '../../page.tsx'
import {
  attemptOf,
  attemptsOf,
  DELAYED_WORDS,
  Exchange,
  ExecutionSection,
  type JobAttempts,
  plannedAt,
} from './execution.tsx'
import { MAX_TITLE_LENGTH } from './job.tsx'
import { optionFacts } from './option-facts.tsx'

interface DelayedJobView extends JobAttempts {
  job: DelayedJob
}

/** The page refreshes from 10 s before the run until 5 min after. */
const SOON_MS = 10_000
const IN_LINE_MS = 300_000

/** One delayed job: state, attempts, cancellation. */
export const delayedJob = page({
  path: '/delayed/:id',
  section: 'delayed',
  right: 'read',

  load(context): DelayedJobView {
    const job = context.clockwork.delayed.get(context.tenantId, context.params.id)
    return { job: shownTo(context.caller('clockwork'), job), ...attemptsOf(context, job) }
  },

  title: ({ job }) => shorten(job.name, MAX_TITLE_LENGTH),

  view(view) {
    const { job } = view
    const { href, may, query, now } = usePage()
    return (
      <div id="job">
        {isInProgress(job, now) && (
          <AutoRefresh id="job" here={href(`/delayed/${job.id}`, { execution: query.execution })} />
        )}
        <PageHead
          title={<Text text={job.name} limit={120} />}
          state={{ tone: DELAYED_WORDS[job.status].tone, sentence: sentenceOn(view) }}
        />
        <SelectedRun {...view} />
        <About {...view} />
        <Api {...view} />
        {may('delete') && job.status === 'pending' && <Cancellation {...view} />}
      </div>
    )
  },

  actions: {
    cancel: {
      right: 'delete',
      flash: good('Delayed job cancelled.'),
      run: async ({ clockwork, caller, params }) => {
        await clockwork.delayed.cancel(caller('clockwork'), params.id)
      },
    },
  },
})

function SelectedRun({ job, attempts, selected }: DelayedJobView) {
  const { href } = usePage()
  if (!selected) return null
  const made = attempts
    .toReversed()
    .map((of) =>
      attemptOf(of, href(`/delayed/${job.id}`, { execution: of.id }), of.id === selected.id),
    )
  const planned = job.status === 'pending' ? [plannedAt(Date.parse(job.run_at))] : []
  return (
    <Columns>
      <ExecutionSection execution={selected} attempts={[...made, ...planned]} />
      <Exchange execution={selected} call={{ ...job, updated_at: job.created_at }} />
    </Columns>
  )
}

const About = ({ job }: DelayedJobView) => (
  <Section id="about" title="About" isCard>
    <Facts
      facts={[
        ['ID', <Id id={job.id} what="job ID" />],
        ['Status', <StatusBadge {...DELAYED_WORDS[job.status]} />],
        [DELAYED_WORDS[job.status].time, <Time at={Date.parse(job.run_at)} />],
        ['Request', <Text text={`${job.method} ${job.url}`} limit={120} />],
        ...optionFacts(job),
        ['Created', <Time at={Date.parse(job.created_at)} />],
      ]}
    />
  </Section>
)

const Api = ({ job }: DelayedJobView) => (
  <Section id="program" title="API">
    <details class="fold">
      <summary>View JSON</summary>
      <JsonView title="Delayed job" value={job} isOpen />
    </details>
    <CurlBlock
      title="Get this job"
      url={`${usePage().baseUrl()}/v1/clockwork/delayed/${job.id}`}
      headers={{ Authorization: 'Bearer $GATEHOUSE_KEY' }}
    />
  </Section>
)

const Cancellation = ({ job }: DelayedJobView) => (
  <DangerZone
    items={[
      {
        text: "The job won't run. This can't be undone.",
        id: 'cancel',
        verb: 'Cancel job',
        question: 'Cancel this job?',
        consequence: "The job won't run or retry. Past attempts are kept for 30 days.",
        action: usePage().href(`/delayed/${job.id}/cancel`),
      },
    ]}
  />
)

function isInProgress(job: DelayedJob, now: number): boolean {
  const due = Date.parse(job.run_at)
  const isDue = due - now < SOON_MS && now - due < IN_LINE_MS
  return job.status === 'running' || (job.status === 'pending' && isDue)
}

function sentenceOn({ job, attempts }: DelayedJobView) {
  const runs = <Time at={Date.parse(job.run_at)} />
  switch (job.status) {
    case 'pending':
      return attempts.length === 0 ? <>Runs {runs}</> : <>Failed; next attempt {runs}</>
    case 'running':
      return 'Running'
    case 'success':
      return attempts.length > 1 ? `Succeeded on attempt ${attempts.length}` : 'Succeeded'
    case 'failed':
      return `Failed after ${counted(attempts.length, 'attempt')}. No further retries.`
    case 'cancelled':
      return 'Cancelled'
  }
}
