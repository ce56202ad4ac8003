import type { CronJob, Preview } from '../../../../src/engines/clockwork/model.ts'
import type { Fields } from '../../../../src/http/body.ts'
import { Button, LinkButton } from '../../form/button.tsx'
import { Checkbox } from '../../form/choices.tsx'
import type { FormError } from '../../form/error-summary.tsx'
import { Field } from '../../form/field.tsx'
import { Form } from '../../form/form.tsx'
import { errorAt, rawText } from '../../form/values.ts'
import { PageHead } from '../../page-head.tsx'
import { url } from '../../url.ts'
import { CallFields } from './call-fields.tsx'
import { PreviewArea, PreviewButton } from './schedule-preview.tsx'

const PATH = '/console/jobs'

/** Form for a new or existing job, with a preview of its schedule. */
export const JobFormPage = (page: {
  base: string
  job?: CronJob | undefined
  values: Fields
  errors?: readonly FormError[] | undefined
  preview?: Preview | undefined
  /** The form was submitted for a preview only. */
  isPreviewed: boolean
  now: number
}) => {
  const { base, job, values, errors } = page
  const action = url(base, job ? `${PATH}/${job.id}/edit` : PATH)
  const isBlank = Object.keys(values).length === 0
  return (
    <>
      <PageHead
        title={job ? 'Edit job' : 'New job'}
        state={{
          sentence: job
            ? "A new schedule applies from now on. Runs in progress don't change."
            : 'Sends an HTTP request on a schedule (UTC).',
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
          value={rawText(values, 'name')}
          error={errorAt(errors, 'name')}
        />
        <Field
          name="schedule"
          label="Schedule"
          isMono
          isRequired
          value={rawText(values, 'schedule')}
          error={errorAt(errors, 'schedule')}
          placeholder="*/15 * * * *"
          help="Cron expression in UTC: minute, hour, day of month, month, day of week."
        />
        <PreviewButton action={action} />
        <PreviewArea
          action={action}
          preview={page.preview}
          error={page.isPreviewed ? errorAt(errors, 'schedule') : undefined}
          now={page.now}
        />
        <CallFields values={values} errors={errors} />
        {!job && (
          <Checkbox
            name="is_active"
            label="Active"
            isChecked={isBlank || rawText(values, 'is_active') === 'true'}
            help="If not selected, the job is paused until you resume it."
          />
        )}
      </Form>
    </>
  )
}
