import { CodeBlock } from '../../../../views/ui/code.tsx'
import { ActionButton, LinkButton } from '../../../../views/ui/form/button.tsx'
import { GuideStep, GuideSteps, Waiting } from '../../../../views/ui/guide.tsx'
import { StatusShape } from '../../../../views/ui/status.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { duration, Time } from '../../../../views/ui/time.tsx'
import type { CronJobSummary, ExecutionSummary } from '../../../engines/clockwork/queries.ts'
import { isSensitive, MASK } from '../../../platform/secret-headers.ts'
import type { ReceivedRequest } from '../../../platform/test-receiver/index.ts'
import { type PageContext, page, usePage } from '../../page.tsx'
import {
  aboveGuides,
  createsKey,
  Guide,
  GuideCode,
  type GuideData,
  guideData,
  jsonWith,
  PROGRESS,
  Result,
} from './guide.tsx'

const MAX_NAME_LENGTH = 48

interface JobsGuide extends GuideData {
  job: CronJobSummary | undefined
  run: ExecutionSummary | undefined
  received: ReceivedRequest | undefined
}

/** Guide to a first job, whose request arrives at the built-in test receiver. */
export const jobsGuide = page({
  path: '/get-started/jobs',
  section: 'overview',
  right: 'read',
  title: 'Run your first job',
  above: aboveGuides,

  load(context): JobsGuide {
    const { clockwork, testReceivers, tenantId } = context
    const job = guideJob(context)
    return {
      ...guideData(context, 'jobs'),
      job,
      run: job && clockwork.queries.attempts(tenantId, job.id, 1)[0],
      received: job && testReceivers.requests(tenantId, 'jobs', 1)[0],
    }
  },

  view: (guide) => (
    <Guide
      goal="jobs"
      sentence="A job sends an HTTP request on a schedule, and retries if the request fails."
      code={<Code newKey={guide.newKey} />}
    >
      <Steps {...guide} />
    </Guide>
  ),

  live: ({ newKey: _, ...guide }) => ({ [PROGRESS]: { facts: guide, view: <Steps {...guide} /> } }),

  actions: {
    create: {
      right: 'change',
      async run(context) {
        const { clockwork, testReceivers, tenantId, caller } = context
        const { id } =
          guideJob(context) ??
          (await clockwork.jobs.create(caller('clockwork'), {
            name: 'First job',
            schedule: '*/15 * * * *',
            url: testReceivers.urlOf(tenantId, 'jobs'),
            headers: { 'Content-Type': 'application/json' },
            body: '{"hello":"world"}',
          }))
        await clockwork.jobs.runNow(caller('clockwork'), id)
      },
    },
    key: createsKey({ engines: ['clockwork'] }),
  },
})

/** The job that the guide created. */
const guideJob = ({ clockwork, testReceivers, tenantId }: PageContext) =>
  clockwork.queries.jobAt(tenantId, testReceivers.urlOf(tenantId, 'jobs'))

function Steps({ job, run, received, next }: Omit<JobsGuide, 'newKey'>) {
  const { may, href, actionHref } = usePage()
  const isDone = run?.status === 'success'
  return (
    <>
      <GuideSteps>
        <GuideStep title="Create a job" isDone={job !== undefined}>
          {job ? (
            <p>
              <a href={href(`/jobs/${job.id}`)}>
                <Text text={job.name} limit={MAX_NAME_LENGTH} />
              </a>{' '}
              runs every 15 minutes. Next run <Time at={job.nextRunAt} />.
            </p>
          ) : (
            <>
              <p class="hint">
                It sends a POST request to a test receiver inside Gatehouse: every 15 minutes, and
                once right away.
              </p>
              {may('change') && (
                <ActionButton weight="primary" action={actionHref('create')}>
                  Create job and run it
                </ActionButton>
              )}
            </>
          )}
        </GuideStep>
        <GuideStep title="See it run" isDone={isDone}>
          {job && <Run job={job} run={run} />}
        </GuideStep>
        <GuideStep title="See the request arrive" isDone={received !== undefined}>
          {received && <Received request={received} />}
        </GuideStep>
      </GuideSteps>
      {isDone && (
        <Result
          next={next}
          more={may('change') && <LinkButton href={href('/jobs/new')}>Use your own URL</LinkButton>}
        >
          Failed runs are retried, and every run is in the job's log. To stop this job, open it and
          select Pause.
        </Result>
      )}
    </>
  )
}

function Run({ job, run }: { job: CronJobSummary; run: ExecutionSummary | undefined }) {
  const { may, href, actionHref } = usePage()
  if (!run || run.status === 'running') return <Waiting>Running</Waiting>
  const isGood = run.status === 'success'
  return (
    <>
      <p class="quietrow">
        <StatusShape tone={isGood ? 'good' : 'bad'} />
        <span>
          {isGood
            ? `Succeeded: ${run.responseStatus} in ${duration(run.durationMs ?? 0)}`
            : `Failed${run.responseStatus === null ? '' : `: ${run.responseStatus}`}`}
          {' · '}
          <a href={href(`/jobs/${job.id}`, { execution: run.id })}>View run</a>
        </span>
      </p>
      {may('change') && (
        <ActionButton action={actionHref('create')} isSmall>
          Run again
        </ActionButton>
      )}
    </>
  )
}

/** A request as the test receiver got it. Viewers see no signatures. */
export function Received({ request }: { request: ReceivedRequest }) {
  const { may } = usePage()
  const shown = (name: string, value: string) =>
    may('change') || !isSensitive(name) ? value : MASK
  return (
    <>
      <p class="hint">
        Received by the test receiver <Time at={request.at} />
      </p>
      <CodeBlock title="Received request" wraps>
        {[
          request.method,
          ...Object.entries(request.headers).map(
            ([name, value]) => `${name}: ${shown(name, value)}`,
          ),
          '',
          request.body,
        ].join('\n')}
      </CodeBlock>
    </>
  )
}

function Code({ newKey }: Pick<GuideData, 'newKey'>) {
  const url = `${usePage().baseUrl()}/v1/clockwork/jobs`
  const job = { name: 'Nightly report', schedule: '0 6 * * *', url: 'https://example.com/report' }
  return (
    <GuideCode
      goal="jobs"
      newKey={newKey}
      note="Create jobs for your own URLs, in UTC or any other time zone."
      requests={(key) => [{ title: 'curl', url, headers: jsonWith(key), body: job }]}
    />
  )
}
