import type { DelayedJobLook, ExecutionLook } from '../../../src/engines/clockwork/looks.ts'
import type { DelayedJob, Execution } from '../../../src/engines/clockwork/model.ts'
import type { Fields } from '../../../src/http/body.ts'
import { Confirm, DangerZone } from '../confirm.tsx'
import { CurlBlock, type CurlRequest } from '../curl-block.tsx'
import { type Column, DataTable } from '../data-table.tsx'
import { EmptyState } from '../empty-state.tsx'
import { Facts } from '../facts.tsx'
import { FilterBar } from '../filter-bar.tsx'
import { Button, LinkButton } from '../form/button.tsx'
import type { FormError } from '../form/error-summary.tsx'
import { Field } from '../form/field.tsx'
import { Form } from '../form/form.tsx'
import { Id } from '../id.tsx'
import { JsonView } from '../json-view.tsx'
import { PageHead } from '../page-head.tsx'
import { Columns, Section } from '../section.tsx'
import { StatusMark } from '../status-mark.tsx'
import { FilterChips } from '../tabs.tsx'
import { Text } from '../text.tsx'
import { Time } from '../time.tsx'
import type { Tone } from '../tone.ts'
import { url } from '../url.ts'
import { attemptOf, Exchange, ExecutionSection } from './execution.tsx'
import { CallFields, messageAt, textIn } from './job-call.tsx'

const PATH = '/console/delayed'

export const DELAYED_STATUSES = ['pending', 'running', 'success', 'failed', 'cancelled'] as const
type DelayedStatus = (typeof DELAYED_STATUSES)[number]

const MARKS: Record<DelayedStatus, { tone: Tone; word: string }> = {
  pending: { tone: 'quiet', word: 'pending' },
  running: { tone: 'busy', word: 'running' },
  success: { tone: 'good', word: 'succeeded' },
  failed: { tone: 'bad', word: 'failed' },
  cancelled: { tone: 'quiet', word: 'cancelled' },
}

const LABELS: Record<DelayedStatus, string> = {
  pending: 'Pending',
  running: 'Running',
  success: 'Succeeded',
  failed: 'Failed',
  cancelled: 'Cancelled',
}

const TIMES: Record<DelayedStatus, string> = {
  pending: 'Runs',
  running: 'Was due',
  success: 'Was due',
  failed: 'Was due',
  cancelled: 'Would have run',
}

/** All jobs that run once. */
export const DelayedPage = (page: {
  base: string
  apiUrl: string
  rows: readonly DelayedJobLook[]
  /** Those that the page counts, and those of them that the search finds. */
  latest: readonly DelayedJobLook[]
  found: readonly DelayedJobLook[]
  /** There are more than are counted. */
  hasMore: boolean
  q: string
  status: DelayedStatus | undefined
  newerHref?: string | undefined
  olderHref?: string | undefined
  mayChange: boolean
  now: number
}) => {
  const { base, latest, found, q, status, now } = page
  const href = (of?: DelayedStatus) => url(base, PATH, { q, status: of })
  const action = page.mayChange && (
    <LinkButton weight="primary" href={url(base, `${PATH}/new`)}>
      New delayed job
    </LinkButton>
  )
  return (
    <>
      <PageHead title="Delayed" state={stateOf(latest, page.hasMore, now)} action={action} />
      {latest.length > 0 && (
        <>
          <FilterChips
            label="Status"
            tabs={[
              { label: 'All', href: href(), count: found.length, isCurrent: !status },
              ...DELAYED_STATUSES.map((of) => {
                const count = found.filter((job) => job.status === of).length
                return {
                  label: LABELS[of],
                  href: href(of),
                  count,
                  isCurrent: of === status,
                  ...(of === 'failed' && count > 0 && { tone: 'bad' as const }),
                }
              }),
            ]}
          />
          <FilterBar
            action={url(base, PATH)}
            search={{ label: 'Name, URL or id', value: q }}
            kept={{ status }}
            {...(q !== '' && { clearHref: url(base, PATH, { status }) })}
          />
        </>
      )}
      <DataTable
        caption="Delayed jobs"
        columns={columns(now)}
        rows={page.rows}
        hrefOf={({ id }) => url(base, `${PATH}/${id}`)}
        idOf={({ id }) => id}
        empty={
          latest.length === 0 ? (
            <EmptyState
              icon="delayed"
              sentence="No delayed job yet."
              next="It calls a URL of yours once, at a time that you say, and tries again when that fails."
              action={action}
              curl={firstJob(page.apiUrl, now)}
            />
          ) : (
            <EmptyState
              icon="delayed"
              sentence={
                page.olderHref ? 'None of these fits. Earlier ones may.' : 'No delayed job fits.'
              }
              action={
                page.olderHref ? (
                  <LinkButton href={page.olderHref}>Look at earlier ones</LinkButton>
                ) : (
                  <LinkButton href={url(base, PATH)}>All delayed jobs</LinkButton>
                )
              }
            />
          )
        }
        pages={{ newerHref: page.newerHref, olderHref: page.olderHref }}
      />
    </>
  )
}

const HOUR_MS = 3_600_000

const firstJob = (apiUrl: string, now: number): CurlRequest => ({
  url: `${apiUrl}/v1/clockwork/delayed`,
  headers: { Authorization: 'Bearer $GATEHOUSE_KEY', 'Content-Type': 'application/json' },
  body: {
    name: 'hello',
    run_at: new Date(now + HOUR_MS).toISOString(),
    url: 'https://example.com/hook',
  },
})

function stateOf(latest: readonly DelayedJobLook[], hasMore: boolean, now: number) {
  if (latest.length === 0) return { sentence: 'Nothing waits for its time.' }
  const waiting = latest.filter(({ status }) => status === 'pending')
  const failed = latest.filter(({ status }) => status === 'failed').length
  const next = waiting.at(-1)
  return {
    tone: failed > 0 ? 'bad' : 'good',
    sentence: (
      <>
        {waiting.length.toLocaleString('en')} of {hasMore && 'the latest '}
        {latest.length.toLocaleString('en')} wait{waiting.length === 1 ? 's' : ''}
        {next && !hasMore && (
          <>
            , the next <Time at={next.runAt} now={now} />
          </>
        )}
        {failed > 0 && `; ${failed.toLocaleString('en')} failed`}.
      </>
    ),
  } as const
}

const columns = (now: number): Column<DelayedJobLook>[] => [
  { label: 'Name', isWide: true, cell: ({ name }) => <Text text={name} limit={80} /> },
  {
    label: 'Calls',
    isMono: true,
    narrow: 'hidden',
    cell: ({ method, url: target }) => <Text text={`${method} ${target}`} limit={48} />,
  },
  {
    label: 'Status',
    narrow: 'corner',
    cell: ({ status }) => <StatusMark {...MARKS[status]} />,
  },
  { label: 'Runs', align: 'right', cell: ({ runAt }) => <Time at={runAt} now={now} /> },
]

/** A job that runs once, to be made. */
export const DelayedFormPage = (page: {
  base: string
  typed: Fields
  errors?: readonly FormError[] | undefined
}) => {
  const { base, typed, errors } = page
  return (
    <>
      <PageHead
        title="New delayed job"
        state={{ sentence: 'It calls your URL once, and again only when that fails.' }}
      />
      <Form
        action={url(base, PATH)}
        errors={errors ?? []}
        buttons={
          <>
            <Button weight="primary">Create delayed job</Button>
            <LinkButton weight="bare" href={url(base, PATH)}>
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
          name="run_at"
          label="Runs at, UTC"
          type="datetime-local"
          isRequired
          value={textIn(typed, 'run_at')}
          error={messageAt(errors, 'run_at')}
        />
        <CallFields typed={typed} errors={errors} />
      </Form>
    </>
  )
}

/** One job that runs once: how it stands, what was tried, and its end. */
export const DelayedJobPage = (page: {
  base: string
  apiUrl: string
  job: DelayedJob
  /** The newest first. */
  attempts: readonly ExecutionLook[]
  selected: Execution | undefined
  mayDelete: boolean
  now: number
}) => {
  const { base, apiUrl, job, attempts, selected, now } = page
  const at = url(base, `${PATH}/${job.id}`)
  const hrefOf = (id: string) => `${url(base, `${PATH}/${job.id}`, { execution: id })}#run`
  return (
    <>
      <PageHead
        title={<Text text={job.name} limit={120} />}
        state={{ tone: MARKS[job.status].tone, sentence: sentenceOn(job, attempts, now) }}
      />
      <Columns>
        <Section id="about" title="About" isCard>
          <Facts
            facts={[
              ['Id', <Id id={job.id} what="job id" />],
              ['Status', <StatusMark {...MARKS[job.status]} />],
              [TIMES[job.status], <Time at={Date.parse(job.run_at)} now={now} />],
              ['Calls', <Text text={`${job.method} ${job.url}`} limit={120} />],
              ['Created', <Time at={Date.parse(job.created_at)} now={now} />],
            ]}
          />
        </Section>
        {selected ? (
          <ExecutionSection
            execution={selected}
            attempts={[
              ...attempts
                .toReversed()
                .map((attempt) =>
                  attemptOf(attempt, hrefOf(attempt.id), attempt.id === selected.id),
                ),
              ...(job.status === 'pending'
                ? [
                    {
                      tone: 'quiet' as const,
                      outcome: 'Next attempt',
                      at: Date.parse(job.run_at),
                      isPlanned: true,
                    },
                  ]
                : []),
            ]}
            now={now}
          />
        ) : (
          <Section id="run" title="Attempts" isCard>
            <p class="hint">
              {job.status === 'cancelled' ? 'None: it was cancelled before.' : 'None yet.'}
            </p>
          </Section>
        )}
      </Columns>
      {selected && <Exchange execution={selected} call={{ ...job, updated_at: job.created_at }} />}
      <Section id="program" title="For programs">
        <details class="fold">
          <summary>As JSON</summary>
          <JsonView title="Delayed job" value={job} isOpen />
        </details>
        <CurlBlock
          title="Read it from a terminal"
          url={`${apiUrl}/v1/clockwork/delayed/${job.id}`}
          headers={{ Authorization: 'Bearer $GATEHOUSE_KEY' }}
        />
      </Section>
      {page.mayDelete && job.status === 'pending' && (
        <DangerZone
          items={[
            {
              title: 'Cancel it',
              text: 'It will not run. This cannot be taken back.',
              control: (
                <Confirm
                  id="cancel"
                  verb="Cancel job"
                  question="Cancel this job?"
                  consequence="It is not called any more; what was tried stays here for a while."
                  action={`${at}/cancel`}
                />
              ),
            },
          ]}
        />
      )}
    </>
  )
}

function sentenceOn(job: DelayedJob, attempts: readonly ExecutionLook[], now: number) {
  const runs = <Time at={Date.parse(job.run_at)} now={now} />
  switch (job.status) {
    case 'pending':
      return attempts.length === 0 ? <>Runs {runs}.</> : <>Failed so far; tried again {runs}.</>
    case 'running':
      return 'Runs now.'
    case 'success':
      return attempts.length > 1 ? `Succeeded at attempt ${attempts.length}.` : 'Succeeded.'
    case 'failed':
      return `Failed, and is not tried again after ${attempts.length} attempts.`
    case 'cancelled':
      return 'Cancelled; it will not run.'
  }
}
