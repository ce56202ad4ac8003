import { Button } from '../../../form/button.tsx'
import type { FormError } from '../../../form/error-summary.tsx'
import { Field } from '../../../form/field.tsx'
import { Form } from '../../../form/form.tsx'
import { errorAt } from '../../../form/values.ts'
import { pathOf } from './state.tsx'

/** Form for a bot token, which is never shown again, not even in a rejected form. */
export const TokenForm = (form: {
  base: string
  verb: string
  isNew?: boolean
  errors: readonly FormError[] | undefined
}) => (
  <Form
    action={pathOf(form.base, 'live', 'token')}
    errors={form.errors}
    buttons={<Button weight={form.isNew ? 'primary' : 'plain'}>{form.verb}</Button>}
  >
    <Field
      name="token"
      type="password"
      label="Token"
      isMono
      isRequired
      error={errorAt(form.errors, 'token')}
      help="The token from BotFather. It is encrypted and never shown again."
    />
  </Form>
)
