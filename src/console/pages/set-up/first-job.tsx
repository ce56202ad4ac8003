import type { ComponentChildren } from 'preact'
import { CurlBlock } from '../../../../views/ui/code.tsx'
import { LinkButton } from '../../../../views/ui/form/button.tsx'
import { SecretPanel } from '../../../../views/ui/secret-panel.tsx'
import { StatusShape, type Tone } from '../../../../views/ui/status.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { duration, Time } from '../../../../views/ui/time.tsx'
import type { Execution } from '../../../engines/clockwork/model.ts'
import type { CronJobSummary } from '../../../engines/clockwork/queries.ts'
import { type PageContext, page, usePage } from '../../page.tsx'
import { SetUpStep } from './welcome.tsx'

const MAX_NAME_LENGTH = 48
const MAX_REASON_LENGTH = 160

interface FirstJob {
  /** The new key, which is shown only once. */
  key: string | undefined
  /** URL that the job requests. */
  target: string
  /** The newest job of the tenant, and its newest attempt. */
  job: CronJobSummary | undefined
  run: Execution | undefined
}

/** Last step of the set-up: a command that creates a job, which appears on the page. */
export const firstJobPage = page({
  path: '/first-job',
  isPlain: true,
  right: 'read',
  title: 'Your first job',

  load(context): FirstJob {
    const { clockwork, tenantId, result } = context
    const [job] = clockwork.queries.jobs(tenantId, { limit: 1 })
    const [attempt] = job ? clockwork.queries.attempts(tenantId, job.id, 1) : []
    return {
      key: result as string | undefined,
      target: targetIn(context),
      job,
      run: job && attempt && clockwork.queries.attempt(tenantId, job.id, attempt.id),
    }
  },

  live: ({ job, run, ...data }) => ({
    'first-job': { facts: { job, run }, view: <Status {...data} job={job} run={run} /> },
  }),

  view(data) {
    const { href, may, baseUrl } = usePage()
    const { key, target } = data
    const command = (
      <CurlBlock
        title="Run this in a terminal"
        url={`${baseUrl()}/v1/clockwork/jobs`}
        headers={{
          Authorization: `Bearer ${key ?? '$CLOCKWORK_KEY'}`,
          'Content-Type': 'application/json',
        }}
        body={{ name: 'Hello', schedule: '* * * * *', url: target, method: 'GET' }}
      />
    )
    return (
      <SetUpStep
        at={2}
        title="Your first job"
        intro="Run the command to create a job that runs every minute."
        isWide
        isLive
      >
        {key === undefined ? (
          command
        ) : (
          <SecretPanel
            title="Your API key"
            what="key"
            secret={key}
            example={command}
            doneHref={href('')}
          />
        )}
        <section class="firstjobstatus" aria-labelledby="arrival">
          <h2 id="arrival">Status</h2>
          <div id="first-job" aria-live="polite">
            <Status {...data} />
          </div>
          <noscript>
            <p>
              <a href={href('/first-job')}>Refresh</a>
            </p>
          </noscript>
        </section>
        {key === undefined && (
          <div class="actions">
            <LinkButton weight="primary" href={href('')}>
              Go to the console
            </LinkButton>
            {may('keys') && <LinkButton href={href('/first-key')}>Create another key</LinkButton>}
          </div>
        )}
      </SetUpStep>
    )
  },

  actions: {
    '': {
      right: 'keys',
      async run({ keys, actor, tenantId }) {
        const { key } = await keys.issue(actor, {
          tenantId,
          name: 'Quick start',
          engines: ['clockwork'],
        })
        return { again: true, result: key }
      },
    },
  },
})

/** URL for the first job: this installation, if jobs can reach it. */
function targetIn({ baseUrl, outbound }: PageContext): string {
  const own = `${baseUrl()}/healthz`
  try {
    outbound.checkUrl(own)
    return own
  } catch {
    return 'https://example.com'
  }
}

const Status = ({ job, run }: FirstJob) => {
  if (!job) return <Step tone="busy">Waiting for the job</Step>
  const name = (
    <a href={usePage().href(`/jobs/${job.id}`)}>
      <Text text={job.name} limit={MAX_NAME_LENGTH} />
    </a>
  )
  return (
    <ol class="firstjobsteps">
      <li>
        <Step tone="good">Job {name} created</Step>
      </li>
      <li>{run ? <Run run={run} /> : <NextRun job={job} />}</li>
    </ol>
  )
}

const NextRun = ({ job }: { job: CronJobSummary }) =>
  job.isActive ? (
    <Step tone="busy">
      Next run <Time at={job.nextRunAt} />
    </Step>
  ) : (
    <Step tone="quiet">The job is paused</Step>
  )

const Run = ({ run }: { run: Execution }) => {
  const { status, response_status: answer, duration_ms: ms, error_message: error } = run
  if (status === 'running') return <Step tone="busy">Running</Step>
  const took = duration(ms ?? 0)
  if (status === 'success')
    return (
      <Step tone="good">
        Run succeeded: {answer} in {took}. The job runs every minute until you pause it.
      </Step>
    )
  return (
    <Step tone="bad">
      Run failed: {error === null ? answer : <Text text={error} limit={MAX_REASON_LENGTH} />}
    </Step>
  )
}

const Step = ({ tone, children }: { tone: Tone; children: ComponentChildren }) => (
  <p class="quietrow">
    <StatusShape tone={tone} />
    <span>{children}</span>
  </p>
)
