import { Button, LinkButton } from '../../../../views/ui/form/button.tsx'
import { Field } from '../../../../views/ui/form/field.tsx'
import { PageForm } from '../../../../views/ui/form/form.tsx'
import { PageHead } from '../../../../views/ui/section.tsx'
import { parseRunAt } from '../../../engines/clockwork/run-at.ts'
import { trimmedText } from '../../form.ts'
import { good, page, usePage } from '../../page.tsx'
import { JOB_FIELDS, RequestFields, requestIn } from './fields.tsx'

/** The form of a new delayed job. */
export const newDelayedJob = page({
  path: '/delayed/new',
  section: 'delayed',
  right: 'change',
  title: 'New delayed job',

  load: () => ({}),

  view() {
    const { href, now } = usePage()
    return (
      <>
        <PageHead
          title="New delayed job"
          state={{
            sentence: 'Sends an HTTP request once, at the time that you set. Retries failures.',
          }}
        />
        <PageForm
          action=""
          buttons={
            <>
              <Button weight="primary">Create delayed job</Button>
              <LinkButton weight="bare" href={href('/delayed')}>
                Cancel
              </LinkButton>
            </>
          }
        >
          <Field name="name" label="Name" isRequired />
          <Field
            name="run_at"
            label="Run at (UTC)"
            type="datetime-local"
            isRequired
            help={`Current time: ${new Date(now).toISOString().slice(11, 16)} UTC.`}
          />
          <RequestFields />
        </PageForm>
      </>
    )
  },

  actions: {
    '': {
      right: 'change',
      form: JOB_FIELDS,
      flash: good('Delayed job created.'),
      /** The audit log records jobs created in the console, but not jobs created with the API. */
      async run(context) {
        const { clockwork, audit, tenantId, actor, caller, fields, now } = context
        const runAt = momentOf(trimmedText(fields, 'run_at'))
        const request = requestIn(context, () => parseRunAt(runAt, now))
        const record = (id: string) =>
          audit.record({
            tenantId,
            actor,
            action: 'delayed_job.created',
            object: `delayed_job:${id}`,
          })
        const wanted = { ...request, run_at: runAt }
        const { id } = await clockwork.delayed.create(caller('clockwork'), wanted, record)
        return { to: `/delayed/${id}` }
      },
    },
  },
})

/** Adds UTC to a time from a form, which has no zone. */
function momentOf(text: string): string {
  const [, minute, seconds = ':00'] = /^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d)(:\d\d)?$/.exec(text) ?? []
  return minute === undefined ? text : `${minute.replace(' ', 'T')}${seconds}Z`
}
