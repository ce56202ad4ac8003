import type { ComponentChildren } from 'preact'
import { Button } from '../../../../views/ui/form/button.tsx'
import { Checkbox } from '../../../../views/ui/form/choices.tsx'
import { Field } from '../../../../views/ui/form/field.tsx'
import { PageForm } from '../../../../views/ui/form/form.tsx'
import { PageHead } from '../../../../views/ui/section.tsx'
import { shorten } from '../../../../views/ui/text.tsx'
import type { CronJob, CronJobChange, Preview } from '../../../engines/clockwork/model.ts'
import type { Fields } from '../../../http/body.ts'
import { trimmedText } from '../../form.ts'
import { good, type PageContext, page } from '../../page.tsx'
import { isPreview } from '../form-preview.tsx'
import { asUnix, bodyTextIn, headerLines, JOB_FIELDS, RequestFields, requestIn } from './fields.tsx'
import { MAX_TITLE_LENGTH } from './job.tsx'
import { OptionFields } from './option-fields.tsx'
import {
  alertAfterIn,
  changedOptions,
  deduplicationIn,
  optionsIn,
  optionValues,
  overlapIn,
} from './options.ts'
import { previewOf, ScheduleFields, scheduleIn, scheduleValues } from './schedule-fields.tsx'

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
    const { clockwork, tenantId, query, submission } = context
    const initial =
      query.from === undefined ? EMPTY : copyOf(clockwork.jobs.get(tenantId, query.from))
    return { initial, preview: previewOf(context, submission?.values ?? initial) }
  },

  view: (form) => (
    <JobForm {...form} state="Sends an HTTP request on a schedule." cancelTo="/jobs">
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
          ...requestIn(
            context,
            () => scheduleIn(fields),
            () => optionsIn(fields),
            () => alertAfterIn(fields),
          ),
          ...scheduleIn(fields),
          ...optionsIn(fields),
          overlap: overlapIn(fields),
          alert_after: alertAfterIn(fields),
          ...deduplicationIn(fields),
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
    const { clockwork, tenantId, params, submission } = context
    const job = clockwork.jobs.get(tenantId, params.id)
    const initial = fieldsOf(job)
    return { job, initial, preview: previewOf(context, submission?.values ?? initial) }
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
  return (
    <>
      <PageHead title={form.job ? 'Edit job' : 'New job'} state={{ sentence: form.state }} />
      <PageForm
        action=""
        initial={form.initial}
        buttons={<Button weight="primary">{form.job ? 'Save job' : 'Create job'}</Button>}
        cancel={form.cancelTo}
      >
        <Field name="name" label="Name" isRequired />
        <ScheduleFields preview={form.preview} />
        <RequestFields />
        <OptionFields initial={form.initial} isCron isNew={!form.job} />
        {form.children}
      </PageForm>
    </>
  )
}

/** Shows the form again, with the preview of a valid schedule. */
function previewed(fields: Fields) {
  scheduleIn(fields)
  return { again: true } as const
}

const EMPTY: Fields = { ...scheduleValues(), ...optionValues(), is_active: 'true' }

const copyOf = (job: CronJob): Fields => ({
  ...fieldsOf(job),
  name: `${job.name} (copy)`,
  is_active: 'true',
})

const fieldsOf = (job: CronJob): Fields => ({
  name: job.name,
  ...scheduleValues(job),
  ...optionValues(job),
  url: job.url,
  method: job.method,
  headers: headerLines(job.headers),
  body: job.body ?? '',
})

/** Changed fields only. Different line ends are not a change. */
function changeIn(context: PageContext, job: CronJob): CronJobChange {
  const { fields } = context
  const { name, url, method, headers, body } = requestIn(
    context,
    () => scheduleIn(fields),
    () => optionsIn(fields),
    () => alertAfterIn(fields),
  )
  const { schedule, time_zone } = scheduleIn(fields)
  return {
    ...(name !== job.name && { name }),
    ...(schedule !== job.schedule && { schedule }),
    ...(time_zone !== job.time_zone && { time_zone }),
    ...(url !== job.url && { url }),
    ...(method !== job.method && { method }),
    ...(headerLines(headers) !== headerLines(job.headers) && { headers }),
    ...changedOptions(optionsIn(fields), job),
    ...(overlapIn(fields) !== job.overlap && { overlap: overlapIn(fields) }),
    ...(alertAfterIn(fields) !== job.alert_after && { alert_after: alertAfterIn(fields) }),
    ...(bodyTextIn(fields) !== asUnix(job.body ?? '') && { body }),
  }
}
