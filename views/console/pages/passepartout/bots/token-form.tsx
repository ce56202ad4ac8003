import { Button } from '../../../form/button.tsx'
import type { FormError } from '../../../form/error-summary.tsx'
import { Field } from '../../../form/field.tsx'
import { Form } from '../../../form/form.tsx'
import { pathOf } from './state.tsx'

/** Takes a token in. It is never shown again, not even when it comes back as wrong. */
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
      error={form.errors?.find(({ name }) => name === 'token')?.message}
      help="As BotFather shows it. It is stored sealed, and never shown again."
    />
  </Form>
)
