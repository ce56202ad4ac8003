import type { Fields } from '../../../../../src/http/body.ts'
import { Button } from '../../../form/button.tsx'
import { Checkbox } from '../../../form/choices.tsx'
import type { FormError } from '../../../form/error-summary.tsx'
import { Field } from '../../../form/field.tsx'
import { Form } from '../../../form/form.tsx'
import { Textarea } from '../../../form/textarea.tsx'
import { PageHead } from '../../../page-head.tsx'
import { url } from '../../../url.ts'
import { IDENTITIES, messageIn, textIn } from './marks.tsx'

/** Somebody whom the tenant already knows. */
export const NewIdentityPage = (page: {
  base: string
  typed?: Fields
  errors?: readonly FormError[]
}) => {
  const { base, typed, errors } = page
  return (
    <>
      <PageHead
        title="New identity"
        state={{ sentence: 'For somebody you know already. Nothing is mailed to them.' }}
      />
      <Form
        action={url(base, IDENTITIES)}
        errors={errors}
        buttons={<Button weight="primary">Create identity</Button>}
      >
        <Field
          name="email"
          label="E-mail"
          type="email"
          value={textIn(typed, 'email')}
          error={messageIn(errors, 'email')}
          isRequired
        />
        <Checkbox
          name="verified"
          label="The address is proven to be theirs"
          isChecked={textIn(typed, 'verified') !== undefined}
          help="Tick it where you have made sure of that yourself."
        />
        <Field
          name="password"
          label="Password"
          type="password"
          autocomplete="new-password"
          error={messageIn(errors, 'password')}
          isRequired={false}
          help="Without one they sign in by a code or an account elsewhere, or set one by recovery."
        />
        <Textarea
          name="metadata"
          label="Metadata"
          isMono
          rows={6}
          isRequired={false}
          value={textIn(typed, 'metadata')}
          error={messageIn(errors, 'metadata')}
          help='A JSON object, such as {"roles": ["admin"]}. The person can read it and not change it.'
        />
      </Form>
    </>
  )
}
