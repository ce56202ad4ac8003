import type { Fields } from '../../../../../src/http/body.ts'
import { Button } from '../../../form/button.tsx'
import { Checkbox } from '../../../form/choices.tsx'
import type { FormError } from '../../../form/error-summary.tsx'
import { Field } from '../../../form/field.tsx'
import { Form } from '../../../form/form.tsx'
import { Textarea } from '../../../form/textarea.tsx'
import { errorAt, rawText } from '../../../form/values.ts'
import { PageHead } from '../../../page-head.tsx'
import { url } from '../../../url.ts'
import { IDENTITIES } from './badges.tsx'

/** Form for a new user. */
export const NewIdentityPage = (page: {
  base: string
  values?: Fields
  errors?: readonly FormError[]
}) => {
  const { base, values, errors } = page
  return (
    <>
      <PageHead title="New user" state={{ sentence: 'Creates a user without sending an email.' }} />
      <Form
        action={url(base, IDENTITIES)}
        errors={errors}
        buttons={<Button weight="primary">Create user</Button>}
      >
        <Field
          name="email"
          label="Email"
          type="email"
          value={rawText(values, 'email')}
          error={errorAt(errors, 'email')}
          isRequired
        />
        <Checkbox
          name="verified"
          label="Email verified"
          isChecked={rawText(values, 'verified') !== undefined}
          help="Select this only if you know that the address belongs to them."
        />
        <Field
          name="password"
          label="Password"
          type="password"
          autocomplete="new-password"
          error={errorAt(errors, 'password')}
          isRequired={false}
          help="Without a password, they sign in with an email code or social login, or set a password with account recovery."
        />
        <Textarea
          name="metadata"
          label="Metadata"
          isMono
          rows={6}
          isRequired={false}
          value={rawText(values, 'metadata')}
          error={errorAt(errors, 'metadata')}
          help='A JSON object, such as {"roles": ["admin"]}. The user can read it, but not change it.'
        />
      </Form>
    </>
  )
}
