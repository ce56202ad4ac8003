import type { ComponentChildren, VNode } from 'preact'
import type { CronJobLook } from '../../../src/engines/clockwork/looks.ts'
import type { Execution } from '../../../src/engines/clockwork/model.ts'
import { CurlBlock, type CurlRequest } from '../curl-block.tsx'
import { Button, LinkButton } from '../form/button.tsx'
import { Form } from '../form/form.tsx'
import type { Theme } from '../frame/model.ts'
import { PlainFrame } from '../frame/plain-frame.tsx'
import { SecretPanel } from '../secret-panel.tsx'
import { StatusShape } from '../status-mark.tsx'
import { Text } from '../text.tsx'
import { duration, Time } from '../time.tsx'
import type { Tone } from '../tone.ts'
import { url } from '../url.ts'
import { LiveSource } from './live-source.tsx'

/** The way from a set-up link to something that runs. */
export const SET_UP_STEPS = ['You and your tenant', 'Your first key', 'Your first job']

const LONGEST_NAME = 48
const LONGEST_REASON = 160

/** The newest job of a tenant, and its newest attempt. */
export interface FirstJob {
  base: string
  job: CronJobLook | undefined
  run: Execution | undefined
  now: number
}

/** By which the tenant's own programs get in. */
export const FirstKeyPage = (page: {
  base: string
  theme: Theme
  action: string
  laterHref: string
}) => (
  <PlainFrame
    base={page.base}
    theme={page.theme}
    windowTitle="Your first key"
    title="Take your first key"
    intro="Your programs get in with keys. This one is for jobs: calls of a URL by the clock."
    steps={{ at: 1, names: SET_UP_STEPS }}
  >
    <Form
      action={page.action}
      buttons={
        <>
          <Button weight="primary">Make the key</Button>
          <LinkButton href={page.laterHref}>Not now</LinkButton>
        </>
      }
    >
      <p class="hint">It is shown once, on the next page, with a command that works at once.</p>
    </Form>
  </PlainFrame>
)

/** A command that makes a job, and how that arrives. With `key`, its only page. */
export const FirstJobPage = (page: {
  base: string
  theme: Theme
  key: string | undefined
  apiUrl: string
  /** What the job calls. */
  target: string
  firstJob: FirstJob
  live: { href: string; shownId: string }
  againHref: string
  /** Undefined for whoever makes no keys. */
  keyHref: string | undefined
}) => {
  const { base, key, keyHref } = page
  const consoleHref = url(base, '/console')
  const command = (
    <CurlBlock title="Run this in a terminal" {...firstJobRequest(page, key ?? '$CLOCKWORK_KEY')} />
  )
  return (
    <PlainFrame
      base={base}
      theme={page.theme}
      windowTitle="Your first job"
      title="Your first job"
      intro="The command makes a job that runs every minute. It arrives here."
      steps={{ at: 2, names: SET_UP_STEPS }}
      isWide
      isLive
    >
      <LiveSource {...page.live} />
      {key === undefined ? (
        command
      ) : (
        <SecretPanel
          title="Your key"
          what="key"
          secret={key}
          example={command}
          doneHref={consoleHref}
        />
      )}
      <section class="arrival" aria-labelledby="arrival">
        <h2 id="arrival">Arriving</h2>
        <div id="first-job" aria-live="polite">
          {FIRST_JOB_PARTS['first-job'](page.firstJob)}
        </div>
        <noscript>
          <p>
            <a href={page.againHref}>Look again</a>
          </p>
        </noscript>
      </section>
      {key === undefined && (
        <div class="actions">
          <LinkButton weight="primary" href={consoleHref}>
            Go to the console
          </LinkButton>
          {keyHref && <LinkButton href={keyHref}>Make another key</LinkButton>}
        </div>
      )}
    </PlainFrame>
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

/** The parts that change while somebody looks, by the id of their element. */
export const FIRST_JOB_PARTS = {
  'first-job': (shown: FirstJob) => <Arrival {...shown} />,
} satisfies Record<string, (shown: FirstJob) => VNode>

const Arrival = ({ base, job, run, now }: FirstJob) => {
  if (!job) return <Step tone="busy">Waiting for the job.</Step>
  const name = (
    <a href={url(base, `/console/jobs/${job.id}`)}>
      <Text text={job.name} limit={LONGEST_NAME} />
    </a>
  )
  return (
    <ol class="arrivals">
      <li>
        <Step tone="good">The job {name} is here.</Step>
      </li>
      <li>{run ? <Run run={run} /> : <Coming job={job} now={now} />}</li>
    </ol>
  )
}

const Coming = ({ job, now }: { job: CronJobLook; now: number }) =>
  job.isActive ? (
    <Step tone="busy">
      It runs <Time at={job.nextRunAt} now={now} />.
    </Step>
  ) : (
    <Step tone="quiet">It is paused.</Step>
  )

const Run = ({ run }: { run: Execution }) => {
  const { status, response_status: answer, duration_ms: ms, error_message: error } = run
  if (status === 'running') return <Step tone="busy">It runs.</Step>
  const took = duration(ms ?? 0)
  if (status === 'success')
    return (
      <Step tone="good">
        It ran: {answer} in {took}. It goes on every minute, until somebody pauses it.
      </Step>
    )
  return (
    <Step tone="bad">
      It ran, and failed: {error === null ? answer : <Text text={error} limit={LONGEST_REASON} />}
    </Step>
  )
}

const Step = ({ tone, children }: { tone: Tone; children: ComponentChildren }) => (
  <p class="quietline">
    <StatusShape tone={tone} />
    <span>{children}</span>
  </p>
)
