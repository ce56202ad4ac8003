import type { Fields } from '../../../../src/http/body.ts'
import { Button, LinkButton } from '../../form/button.tsx'
import type { FormError } from '../../form/error-summary.tsx'
import { Field } from '../../form/field.tsx'
import { Form } from '../../form/form.tsx'
import { errorAt, rawText } from '../../form/values.ts'
import { PageHead } from '../../page-head.tsx'
import { url } from '../../url.ts'
import { CallFields } from './call-fields.tsx'

const PATH = '/console/delayed'

/** Form for a new delayed job. */
export const DelayedFormPage = (page: {
  base: string
  values: Fields
  errors?: readonly FormError[] | undefined
  now: number
}) => {
  const { base, values, errors, now } = page
  return (
    <>
      <PageHead
        title="New delayed job"
        state={{
          sentence: 'Sends an HTTP request once, at the time that you set. Retries failures.',
        }}
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
          value={rawText(values, 'name')}
          error={errorAt(errors, 'name')}
        />
        <Field
          name="run_at"
          label="Run at (UTC)"
          type="datetime-local"
          isRequired
          value={rawText(values, 'run_at')}
          error={errorAt(errors, 'run_at')}
          help={`Current time: ${new Date(now).toISOString().slice(11, 16)} UTC.`}
        />
        <CallFields values={values} errors={errors} />
      </Form>
    </>
  )
}
