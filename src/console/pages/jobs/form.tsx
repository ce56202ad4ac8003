import type { ComponentChildren } from 'preact'
import { Events } from '../../../../views/ui/events.tsx'
import { Button, LinkButton } from '../../../../views/ui/form/button.tsx'
import { Checkbox } from '../../../../views/ui/form/choices.tsx'
import { errorAt, Field, FieldError } from '../../../../views/ui/form/field.tsx'
import { PageForm } from '../../../../views/ui/form/form.tsx'
import { PageHead, Section } from '../../../../views/ui/section.tsx'
import { shorten } from '../../../../views/ui/text.tsx'
import { capitalized } from '../../../../views/ui/words.ts'
import type { CronJob, CronJobChange, Preview } from '../../../engines/clockwork/model.ts'
import { scheduleOf } from '../../../engines/clockwork/schedule/index.ts'
import type { Fields } from '../../../http/body.ts'
import { trimmedText } from '../../form.ts'
import { good, type PageContext, page, usePage } from '../../page.tsx'
import { ExactTime } from './execution.tsx'
import { asUnix, bodyTextIn, headerLines, JOB_FIELDS, RequestFields, requestIn } from './fields.tsx'
import { MAX_TITLE_LENGTH } from './job.tsx'

const SHOWN_RUNS = 5

interface JobForm {
  job?: CronJob
  initial: Fields
  preview: Preview | undefined
}

/** The form of a new job, empty or a copy of the job in the query string. */
export const newJob = page({
  path: '/jobs/new',
  section: 'jobs',
  right: 'change',
  title: 'New job',

  load(context): JobForm {
    const { clockwork, tenantId, query } = context
    const initial = query.from === undefined ? {} : copyOf(clockwork.jobs.get(tenantId, query.from))
    return { initial, preview: previewIn(context) }
  },

  view: (form) => (
    <JobForm {...form} state="Sends an HTTP request on a schedule (UTC)." cancelTo="/jobs">
      <Checkbox
        name="is_active"
        label="Active"
        isChecked
        help="If not selected, the job is paused until you resume it."
      />
    </JobForm>
  ),

  actions: {
    '': {
      right: 'change',
      form: JOB_FIELDS,
      flash: good('Job created.'),
      async run(context) {
        const { clockwork, caller, fields } = context
        if (isPreview(fields)) return previewed(fields)
        const { id } = await clockwork.jobs.create(caller('clockwork'), {
          ...requestIn(context, () => scheduleIn(fields)),
          schedule: trimmedText(fields, 'schedule'),
          is_active: trimmedText(fields, 'is_active') === 'true',
        })
        return { to: `/jobs/${id}` }
      },
    },
  },
})

/** The form of an existing job. */
export const editJob = page({
  path: '/jobs/:id/edit',
  section: 'jobs',
  right: 'change',
  title: 'Edit job',

  load(context): JobForm {
    const job = context.clockwork.jobs.get(context.tenantId, context.params.id)
    return { job, initial: fieldsOf(job), preview: previewIn(context) }
  },

  above: ({ job }, { href }) =>
    job ? [{ label: shorten(job.name, MAX_TITLE_LENGTH), href: href(`/jobs/${job.id}`) }] : [],

  view: (form) => (
    <JobForm
      {...form}
      state="A new schedule applies from now on. Runs in progress don't change."
      cancelTo={`/jobs/${form.job?.id}`}
    />
  ),

  actions: {
    '': {
      right: 'change',
      form: JOB_FIELDS,
      flash: {
        changed: good("Job saved. Runs in progress don't change."),
        unchanged: good('No changes.'),
      },
      async run(context) {
        const { clockwork, tenantId, caller, params, fields } = context
        const job = clockwork.jobs.get(tenantId, params.id)
        if (isPreview(fields)) return previewed(fields)
        const change = changeIn(context, job)
        const to = `/jobs/${job.id}`
        if (Object.keys(change).length === 0) return { to, flash: 'unchanged' }
        await clockwork.jobs.update(caller('clockwork'), job.id, change)
        return { to, flash: 'changed' }
      },
    },
  },
})

const JobForm = (
  form: JobForm & { state: string; cancelTo: string; children?: ComponentChildren },
) => {
  const { href } = usePage()
  return (
    <>
      <PageHead title={form.job ? 'Edit job' : 'New job'} state={{ sentence: form.state }} />
      <PageForm
        action=""
        initial={form.initial}
        buttons={
          <>
            <Button weight="primary">{form.job ? 'Save job' : 'Create job'}</Button>
            <LinkButton weight="bare" href={href(form.cancelTo)}>
              Cancel
            </LinkButton>
          </>
        }
      >
        <Field name="name" label="Name" isRequired />
        <Field
          name="schedule"
          label="Schedule"
          isMono
          isRequired
          placeholder="*/15 * * * *"
          help="Cron expression in UTC: minute, hour, day of month, month, day of week."
        />
        <SchedulePreview {...form} />
        <RequestFields />
        {form.children}
      </PageForm>
    </>
  )
}

/** Previews the schedule: with scripts while typing, without on a button. */
function SchedulePreview({ preview }: JobForm) {
  const { actionHref, submission } = usePage()
  const isAsked = isPreview(submission?.values)
  const error = isAsked ? errorAt(submission?.errors, 'schedule') : undefined
  const update = { 'hx-post': actionHref(''), 'hx-select': '#preview > *', 'hx-swap': 'innerHTML' }
  return (
    <>
      <div class="actions">
        <button
          type="submit"
          class="button small"
          name="intent"
          value="preview"
          {...update}
          hx-target="#preview"
          hx-indicator="#progress"
        >
          Preview schedule
        </button>
      </div>
      <div
        id="preview"
        aria-live="polite"
        {...update}
        hx-trigger="input delay:400ms from:#field-schedule"
        hx-include="closest form"
        hx-vals='{"intent":"preview"}'
      >
        {preview && <Runs {...preview} />}
        {error !== undefined && <FieldError name="preview" error={error} />}
      </div>
    </>
  )
}

const Runs = ({ description, warnings, url: target, next_runs: runs }: Preview) => {
  const messages = [...warnings, ...(target?.reason ? [target.reason] : [])]
  return (
    <Section id="preview-title" title={`Runs ${description}`} isCard>
      <ol class="times">
        {runs.slice(0, SHOWN_RUNS).map((at) => (
          <li>
            <ExactTime at={Date.parse(at)} />
          </li>
        ))}
      </ol>
      {messages.length > 0 && (
        <Events
          label="Warnings"
          events={messages.map((text) => ({ tone: 'warn', title: `${capitalized(text)}.` }))}
        />
      )}
    </Section>
  )
}

const isPreview = (fields: Fields = {}): boolean => trimmedText(fields, 'intent') === 'preview'

const scheduleIn = (fields: Fields) => scheduleOf(trimmedText(fields, 'schedule'))

/** Shows the form again, with the preview of a valid schedule. */
function previewed(fields: Fields) {
  scheduleIn(fields)
  return { again: true } as const
}

function previewIn({ clockwork, submission }: PageContext): Preview | undefined {
  if (!submission || !isPreview(submission.values) || submission.errors.length > 0) return undefined
  const target = trimmedText(submission.values, 'url')
  const schedule = trimmedText(submission.values, 'schedule')
  return clockwork.preview({ schedule, ...(target !== '' && { url: target }) })
}

const copyOf = (job: CronJob): Fields => ({
  ...fieldsOf(job),
  name: `${job.name} (copy)`,
  is_active: 'true',
})

const fieldsOf = (job: CronJob): Fields => ({
  name: job.name,
  schedule: job.schedule,
  url: job.url,
  method: job.method,
  headers: headerLines(job.headers),
  body: job.body ?? '',
})

/** Changed fields only. Different line ends are not a change. */
function changeIn(context: PageContext, job: CronJob): CronJobChange {
  const { fields } = context
  const { name, url, method, headers, body } = requestIn(context, () => scheduleIn(fields))
  const schedule = trimmedText(fields, 'schedule')
  return {
    ...(name !== job.name && { name }),
    ...(schedule !== job.schedule && { schedule }),
    ...(url !== job.url && { url }),
    ...(method !== job.method && { method }),
    ...(headerLines(headers) !== headerLines(job.headers) && { headers }),
    ...(bodyTextIn(fields) !== asUnix(job.body ?? '') && { body }),
  }
}
