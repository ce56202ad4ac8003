import type { CronJobLook, ExecutionLook } from '../../../src/engines/clockwork/looks.ts'
import type { CronJob, Preview } from '../../../src/engines/clockwork/model.ts'
import { describeSchedule } from '../../../src/engines/clockwork/schedule/index.ts'
import type { Fields } from '../../../src/http/body.ts'
import { Pulse } from '../charts/pulse.tsx'
import type { CurlRequest } from '../curl-block.tsx'
import { type Column, DataTable } from '../data-table.tsx'
import { EmptyState } from '../empty-state.tsx'
import { Events } from '../events.tsx'
import { FilterBar } from '../filter-bar.tsx'
import { Button, LinkButton } from '../form/button.tsx'
import { Checkbox } from '../form/choices.tsx'
import type { FormError } from '../form/error-summary.tsx'
import { Field } from '../form/field.tsx'
import { Form } from '../form/form.tsx'
import { FieldError } from '../form/labelled.tsx'
import { PageHead } from '../page-head.tsx'
import { Section } from '../section.tsx'
import { StatusMark } from '../status-mark.tsx'
import { FilterChips } from '../tabs.tsx'
import { Text } from '../text.tsx'
import { Time } from '../time.tsx'
import { url } from '../url.ts'
import { OUTCOMES } from './execution.tsx'
import { CallFields, messageAt, textIn } from './job-call.tsx'

const PATH = '/console/jobs'

export const JOB_STATES = ['failing', 'paused'] as const
export type JobState = (typeof JOB_STATES)[number]

/** A line of the list. */
type Row = CronJobLook & { recent: readonly ExecutionLook[] }

const isFailing = ({ lastStatus }: CronJobLook): boolean => lastStatus === 'failed'
const isPaused = ({ isActive }: CronJobLook): boolean => !isActive

/** All jobs of a tenant: whether they work, and when they run. */
export const JobsPage = (page: {
  base: string
  apiUrl: string
  rows: readonly Row[]
  /** Those that the page counts, and those of them that the search finds. */
  newest: readonly CronJobLook[]
  found: readonly CronJobLook[]
  /** There are more than are counted. */
  hasMore: boolean
  q: string
  state: JobState | undefined
  newerHref?: string | undefined
  olderHref?: string | undefined
  mayChange: boolean
  now: number
}) => {
  const { base, newest, found, q, state, now } = page
  const href = (of?: JobState) => url(base, PATH, { q, state: of })
  const action = page.mayChange && (
    <LinkButton weight="primary" href={url(base, `${PATH}/new`)}>
      New job
    </LinkButton>
  )
  return (
    <>
      <PageHead title="Jobs" state={stateOf(newest, page.hasMore)} action={action} />
      {newest.length > 0 && (
        <>
          <FilterChips
            label="States"
            tabs={[
              { label: 'All', href: href(), count: found.length, isCurrent: !state },
              {
                label: 'Failing',
                href: href('failing'),
                count: found.filter(isFailing).length,
                isCurrent: state === 'failing',
                ...(found.some(isFailing) && { tone: 'bad' as const }),
              },
              {
                label: 'Paused',
                href: href('paused'),
                count: found.filter(isPaused).length,
                isCurrent: state === 'paused',
              },
            ]}
          />
          <FilterBar
            action={url(base, PATH)}
            search={{ label: 'Name or id', value: q }}
            kept={{ state }}
            {...(q !== '' && { clearHref: url(base, PATH, { state }) })}
          />
        </>
      )}
      <DataTable
        caption="Jobs"
        columns={columns(now)}
        rows={page.rows}
        hrefOf={({ id }) => url(base, `${PATH}/${id}`)}
        idOf={({ id }) => id}
        empty={
          newest.length === 0 ? (
            <EmptyState
              icon="jobs"
              sentence="No job yet."
              next="A job calls a URL of yours by the clock, tries again when that fails, and keeps what came back."
              action={action}
              curl={firstJob(page.apiUrl)}
            />
          ) : (
            <EmptyState
              icon="jobs"
              sentence={
                page.olderHref
                  ? 'None of these fits. Older ones may.'
                  : `No ${state ?? ''} job ${q === '' ? 'here' : 'by that name'}.`.replace(
                      '  ',
                      ' ',
                    )
              }
              action={<LinkButton href={url(base, PATH)}>All jobs</LinkButton>}
            />
          )
        }
        pages={{ newerHref: page.newerHref, olderHref: page.olderHref }}
      />
      {page.rows.length === 0 && page.olderHref && (
        <p>
          <a href={page.olderHref}>Look at older jobs</a>
        </p>
      )}
    </>
  )
}

const firstJob = (apiUrl: string): CurlRequest => ({
  url: `${apiUrl}/v1/clockwork/jobs`,
  headers: { Authorization: 'Bearer $GATEHOUSE_KEY', 'Content-Type': 'application/json' },
  body: { name: 'hello', schedule: '*/15 * * * *', url: 'https://example.com/hook' },
})

function stateOf(newest: readonly CronJobLook[], hasMore: boolean) {
  if (newest.length === 0) return { sentence: 'Nothing runs by the clock yet.' }
  const failed = newest.filter(({ failedLately }) => failedLately).length
  const failing = newest.filter(isFailing).length
  const amount = newest.length.toLocaleString('en')
  const jobs = hasMore
    ? `the newest ${amount} jobs`
    : newest.length === 1
      ? '1 job'
      : `${amount} jobs`
  const sentence = `${failed.toLocaleString('en')} of ${jobs} failed in the last 24 hours`
  const still =
    failing === failed ? '' : `; the last run of ${failing === 0 ? 'none' : failing} failed`
  const tone = failing > 0 ? 'bad' : failed > 0 ? 'warn' : 'good'
  return { tone, sentence: `${sentence}${still}.` } as const
}

const columns = (now: number): Column<Row>[] => [
  { label: 'Name', isWide: true, cell: ({ name }) => <Text text={name} limit={80} /> },
  {
    label: 'Schedule',
    cell: ({ schedule }) => <Text text={describeSchedule(schedule)} limit={60} />,
  },
  {
    label: 'Next run',
    align: 'right',
    cell: ({ isActive, nextRunAt }) => (isActive ? <Time at={nextRunAt} now={now} /> : 'paused'),
  },
  {
    label: 'Last run',
    align: 'right',
    cell: ({ lastStartedAt }) =>
      lastStartedAt === null ? 'never' : <Time at={lastStartedAt} now={now} />,
  },
  {
    label: 'Outcome',
    narrow: 'corner',
    cell: ({ lastStatus }) =>
      lastStatus === null ? (
        <StatusMark tone="quiet" word="not run" />
      ) : (
        <StatusMark {...OUTCOMES[lastStatus]} />
      ),
  },
  {
    label: 'Recent',
    cell: ({ recent }) =>
      recent.length === 0 ? (
        '–'
      ) : (
        <Pulse
          beats={recent.toReversed().map(({ status }) => ({
            good: status === 'failed' ? 0 : 1,
            bad: status === 'failed' ? 1 : 0,
          }))}
          label={`Last ${recent.length} attempts: ${recent.filter(({ status }) => status === 'failed').length} failed`}
        />
      ),
  },
]

/** A job to be made or changed, with what its schedule would do once somebody asks for it. */
export const JobFormPage = (page: {
  base: string
  job?: CronJob | undefined
  typed: Fields
  errors?: readonly FormError[] | undefined
  preview?: Preview | undefined
  now: number
}) => {
  const { base, job, typed, errors } = page
  const action = url(base, job ? `${PATH}/${job.id}/edit` : PATH)
  return (
    <>
      <PageHead
        title={job ? 'Edit job' : 'New job'}
        state={{
          sentence: job
            ? 'A new schedule counts from now. Runs under way keep what they began with.'
            : 'It calls your URL by the clock, in UTC.',
        }}
      />
      <Form
        action={action}
        errors={errors ?? []}
        buttons={
          <>
            <Button weight="primary">{job ? 'Save job' : 'Create job'}</Button>
            <LinkButton weight="bare" href={url(base, job ? `${PATH}/${job.id}` : PATH)}>
              Cancel
            </LinkButton>
          </>
        }
      >
        <Field
          name="name"
          label="Name"
          isRequired
          value={textIn(typed, 'name')}
          error={messageAt(errors, 'name')}
        />
        <Field
          name="schedule"
          label="Schedule"
          isMono
          isRequired
          value={textIn(typed, 'schedule')}
          error={messageAt(errors, 'schedule')}
          placeholder="*/15 * * * *"
          help="Minute, hour, day of month, month, day of week; in UTC."
        />
        <PreviewButton action={action} />
        <PreviewArea preview={page.preview} error={messageAt(errors, 'schedule')} now={page.now} />
        <CallFields typed={typed} errors={errors} />
        {!job && (
          <Checkbox
            name="is_active"
            label="Runs by its schedule from now on"
            isChecked={Object.keys(typed).length === 0 || textIn(typed, 'is_active') === 'true'}
            help="Otherwise it is paused until somebody resumes it."
          />
        )}
      </Form>
    </>
  )
}

/** Beside the field that it is about; where scripts run, the answer appears right below. */
const PreviewButton = ({ action }: { action: string }) => (
  <div class="actions">
    <button
      type="submit"
      class="button small"
      name="intent"
      value="preview"
      hx-post={action}
      hx-target="#preview"
      hx-select="#preview"
      hx-swap="outerHTML"
      hx-indicator="#progress"
    >
      Preview schedule
    </button>
  </div>
)

/** Where a preview appears, empty until then. */
const PreviewArea = (of: {
  preview?: Preview | undefined
  error?: string | undefined
  now: number
}) => (
  <div id="preview" aria-live="polite">
    {of.preview && <PreviewCard {...of.preview} now={of.now} />}
    {of.error !== undefined && !of.preview && (
      <FieldError name="preview" error={`No preview: ${of.error}`} />
    )}
  </div>
)

const SHOWN_RUNS = 5

const PreviewCard = ({ description, warnings, url: target, ...of }: Preview & { now: number }) => {
  const doubts = [...warnings, ...(target && !target.allowed ? [`URL: ${target.reason}`] : [])]
  return (
    <Section id="preview-title" title={`Runs ${description}`} isCard>
      <ol>
        {of.next_runs.slice(0, SHOWN_RUNS).map((at) => (
          <li>
            <UtcTime at={Date.parse(at)} now={of.now} />
          </li>
        ))}
      </ol>
      {doubts.length > 0 && (
        <Events
          label="Warnings"
          events={doubts.map((text) => ({
            tone: 'warn',
            title: `${text.charAt(0).toUpperCase()}${text.slice(1)}.`,
          }))}
        />
      )}
    </Section>
  )
}

/** A time to plan by: the instant and how far away it is. */
export const UtcTime = ({ at, now }: { at: number; now: number }) => (
  <>
    {new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC{' '}
    <span class="hint">
      <Time at={at} now={now} />
    </span>
  </>
)
