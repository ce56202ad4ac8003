import { METHODS } from '../../../../src/engines/clockwork/request.ts'
import type { Fields } from '../../../../src/http/body.ts'
import type { FormError } from '../../form/error-summary.tsx'
import { Field } from '../../form/field.tsx'
import { FieldRow } from '../../form/form.tsx'
import { Select } from '../../form/select.tsx'
import { Textarea } from '../../form/textarea.tsx'
import { errorAt, rawText } from '../../form/values.ts'

/** Value of a field, if it is text. */
/** Request fields of both kinds of job. */
export const CallFields = (form: { values: Fields; errors?: readonly FormError[] | undefined }) => {
  const { values, errors } = form
  const partsOf = (name: string) => ({
    name,
    value: rawText(values, name),
    error: errorAt(errors, name),
  })
  return (
    <>
      <FieldRow>
        <Select
          {...partsOf('method')}
          value={rawText(values, 'method') ?? 'POST'}
          label="Method"
          options={METHODS.map((value) => ({ value, label: value }))}
        />
        <Field
          {...partsOf('url')}
          label="URL"
          type="url"
          isMono
          isRequired
          placeholder="https://example.com/hook"
        />
      </FieldRow>
      <Textarea
        {...partsOf('headers')}
        label="Headers"
        isMono
        isRequired={false}
        rows={3}
        placeholder="Content-Type: application/json"
        help="One header per line, as Name: value."
      />
      <Textarea
        {...partsOf('body')}
        label="Body"
        isMono
        isRequired={false}
        rows={6}
        help="Sent as is."
      />
    </>
  )
}
