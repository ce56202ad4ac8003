import type { ComponentChildren, VNode } from 'preact'
import type { Execution } from '../../../src/engines/clockwork/model.ts'
import type { CronJobSummary } from '../../../src/engines/clockwork/queries.ts'
import { CurlBlock, type CurlRequest } from '../curl-block.tsx'
import { Button, LinkButton } from '../form/button.tsx'
import { Form } from '../form/form.tsx'
import type { Theme } from '../layout/model.ts'
import { PlainLayout } from '../layout/plain-layout.tsx'
import { SecretPanel } from '../secret-panel.tsx'
import { StatusShape } from '../status-badge.tsx'
import { Text } from '../text.tsx'
import { duration, Time } from '../time.tsx'
import type { Tone } from '../tone.ts'
import { url } from '../url.ts'
import { LiveSource } from './live-source.tsx'

/** Steps of the set-up. */
export const SET_UP_STEPS = ['Account and tenant', 'API key', 'First job']

const MAX_NAME_LENGTH = 48
const MAX_REASON_LENGTH = 160

/** The newest job of a tenant, and its newest attempt. */
export interface FirstJob {
  base: string
  job: CronJobSummary | undefined
  run: Execution | undefined
  now: number
}

/** Set-up step that creates the first API key. */
export const FirstKeyPage = (page: {
  base: string
  theme: Theme
  action: string
  laterHref: string
}) => (
  <PlainLayout
    base={page.base}
    theme={page.theme}
    windowTitle="Create an API key"
    title="Create an API key"
    intro="Your apps authenticate with API keys. This one is for jobs: scheduled HTTP requests."
    steps={{ at: 1, names: SET_UP_STEPS }}
  >
    <Form
      action={page.action}
      buttons={
        <>
          <Button weight="primary">Create API key</Button>
          <LinkButton href={page.laterHref}>Skip for now</LinkButton>
        </>
      }
    >
      <p class="hint">
        The next page shows the key once, with a command that you can run right away.
      </p>
    </Form>
  </PlainLayout>
)

/** Set-up step with a command that creates a job, and its live status. `key` is shown only once. */
export const FirstJobPage = (page: {
  base: string
  theme: Theme
  key: string | undefined
  apiUrl: string
  /** URL that the job requests. */
  target: string
  firstJob: FirstJob
  live: { href: string; shownId: string }
  againHref: string
  /** Undefined for operators who can't create API keys. */
  keyHref: string | undefined
}) => {
  const { base, key, keyHref } = page
  const consoleHref = url(base, '/console')
  const command = (
    <CurlBlock title="Run this in a terminal" {...firstJobRequest(page, key ?? '$CLOCKWORK_KEY')} />
  )
  return (
    <PlainLayout
      base={base}
      theme={page.theme}
      windowTitle="Your first job"
      title="Your first job"
      intro="Run the command to create a job that runs every minute."
      steps={{ at: 2, names: SET_UP_STEPS }}
      isWide
      isLive
    >
      <LiveSource {...page.live} />
      {key === undefined ? (
        command
      ) : (
        <SecretPanel
          title="Your API key"
          what="key"
          secret={key}
          example={command}
          doneHref={consoleHref}
        />
      )}
      <section class="firstjobstatus" aria-labelledby="arrival">
        <h2 id="arrival">Status</h2>
        <div id="first-job" aria-live="polite">
          {FIRST_JOB_PARTS['first-job'](page.firstJob)}
        </div>
        <noscript>
          <p>
            <a href={page.againHref}>Refresh</a>
          </p>
        </noscript>
      </section>
      {key === undefined && (
        <div class="actions">
          <LinkButton weight="primary" href={consoleHref}>
            Go to the console
          </LinkButton>
          {keyHref && <LinkButton href={keyHref}>Create another key</LinkButton>}
        </div>
      )}
    </PlainLayout>
  )
}

const firstJobRequest = (
  { apiUrl, target }: { apiUrl: string; target: string },
  key: string,
): CurlRequest => ({
  url: `${apiUrl}/v1/clockwork/jobs`,
  headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
  body: { name: 'Hello', schedule: '* * * * *', url: target, method: 'GET' },
})

/** Live parts of the page, by element ID. */
export const FIRST_JOB_PARTS = {
  'first-job': (firstJob: FirstJob) => <FirstJobStatus {...firstJob} />,
} satisfies Record<string, (firstJob: FirstJob) => VNode>

const FirstJobStatus = ({ base, job, run, now }: FirstJob) => {
  if (!job) return <Step tone="busy">Waiting for the job</Step>
  const name = (
    <a href={url(base, `/console/jobs/${job.id}`)}>
      <Text text={job.name} limit={MAX_NAME_LENGTH} />
    </a>
  )
  return (
    <ol class="firstjobsteps">
      <li>
        <Step tone="good">Job {name} created</Step>
      </li>
      <li>{run ? <Run run={run} /> : <NextRun job={job} now={now} />}</li>
    </ol>
  )
}

const NextRun = ({ job, now }: { job: CronJobSummary; now: number }) =>
  job.isActive ? (
    <Step tone="busy">
      Next run <Time at={job.nextRunAt} now={now} />
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
