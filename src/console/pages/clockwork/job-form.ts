import { JobFormPage } from '../../../../views/console/pages/clockwork/job-form.tsx'
import type { CronJob, CronJobChange, Preview } from '../../../engines/clockwork/model.ts'
import { scheduleOf } from '../../../engines/clockwork/schedule/index.ts'
import type { Fields } from '../../../http/body.ts'
import { trimmedText } from '../../form.ts'
import type { ClockworkPageParts, Context, JobContexts, Returned } from './context.ts'
import { asUnix, bodyTextIn, callIn, headerLines, problems, sent } from './fields.ts'

/** Forms to create and edit jobs. */
export function createJobForms(
  { layout, clockwork: { jobs, preview, checkCall }, clock }: ClockworkPageParts,
  { caller, searchOf, formPage, go }: JobContexts,
) {
  const existing = ({ tenant }: Context, id: string): CronJob => jobs.get(tenant.tenantId, id)

  const form = (
    context: Context,
    of: Returned & { job?: CronJob | undefined; preview?: Preview | 'none' },
  ): Response =>
    formPage(context, {
      title: of.job ? 'Edit job' : 'New job',
      of: of.job,
      isWrong: of.errors !== undefined,
      children: JobFormPage({
        base: layout.base(),
        job: of.job,
        values: of.values ?? (of.job ? fieldsOf(of.job) : {}),
        errors: of.errors,
        preview: of.preview === 'none' ? undefined : of.preview,
        isPreviewed: of.preview !== undefined,
        now: clock.now(),
      }),
    })

  /** Empty form, or a copy of the job in the query string. */
  function begin(context: Context): Response {
    const from = searchOf(context).get('from')
    if (from === null) return form(context, {})
    const job = existing(context, from)
    const values = { ...fieldsOf(job), name: `${job.name} (copy)`, is_active: 'true' }
    return form(context, { values })
  }

  const edit = (context: Context, id: string): Response =>
    form(context, { job: existing(context, id) })

  /** Shows the form with a preview of the schedule, without saving. */
  async function previewed(context: Context, body: Fields, job?: CronJob): Promise<Response> {
    const target = trimmedText(body, 'url')
    const schedule = trimmedText(body, 'schedule')
    const errors = await problems([() => scheduleOf(schedule)])
    return errors.length > 0
      ? form(context, { job, values: body, errors, preview: 'none' })
      : form(context, {
          job,
          values: body,
          preview: preview({ schedule, ...(target !== '' && { url: target }) }),
        })
  }

  /** Saves a valid form. */
  const sentBy = <T>(body: Fields, work: () => Promise<T>) =>
    sent(body, { checkCall, checks: [() => scheduleOf(trimmedText(body, 'schedule'))], work })

  async function create(context: Context, body: Fields): Promise<Response> {
    if (isPreview(body)) return previewed(context, body)
    const { value, errors } = await sentBy(body, () =>
      jobs.create(caller(context), {
        ...callIn(body),
        schedule: trimmedText(body, 'schedule'),
        is_active: trimmedText(body, 'is_active') === 'true',
      }),
    )
    return value ? go(`/${value.id}`, 'created') : form(context, { values: body, errors })
  }

  async function change(context: Context, id: string, body: Fields): Promise<Response> {
    const job = existing(context, id)
    if (isPreview(body)) return previewed(context, body, job)
    const { value, errors } = await sentBy(body, async () => {
      const wanted = changeIn(body, job)
      if (Object.keys(wanted).length === 0) return 'unchanged'
      await jobs.update(caller(context), id, wanted)
      return 'changed'
    })
    return value ? go(`/${id}`, value) : form(context, { job, values: body, errors })
  }

  return { begin, edit, create, change }
}

const isPreview = (body: Fields): boolean => trimmedText(body, 'intent') === 'preview'

const fieldsOf = (job: CronJob): Fields => ({
  name: job.name,
  schedule: job.schedule,
  url: job.url,
  method: job.method,
  headers: headerLines(job.headers),
  body: job.body ?? '',
})

/** Changed fields only. Different line ends are not a change. */
function changeIn(fields: Fields, job: CronJob): CronJobChange {
  const { name, url: target, method, headers, body } = callIn(fields)
  const schedule = trimmedText(fields, 'schedule')
  return {
    ...(name !== job.name && { name }),
    ...(schedule !== job.schedule && { schedule }),
    ...(target !== job.url && { url: target }),
    ...(method !== job.method && { method }),
    ...(headerLines(headers) !== headerLines(job.headers) && { headers }),
    ...(bodyTextIn(fields) !== asUnix(job.body ?? '') && { body }),
  }
}
