import { Button, LinkButton } from '../form/button.tsx'
import type { FormError } from '../form/error-summary.tsx'
import { Field } from '../form/field.tsx'
import { Form } from '../form/form.tsx'
import { errorAt } from '../form/values.ts'
import type { Theme } from '../layout/model.ts'
import { PlainLayout } from '../layout/plain-layout.tsx'
import { SET_UP_STEPS } from './first-job.tsx'

/** First page after sign-up: names the new tenant. */
export const WelcomePage = (page: {
  base: string
  theme: Theme
  action: string
  name: string
  errors: readonly FormError[] | undefined
  laterHref: string
}) => (
  <PlainLayout
    base={page.base}
    theme={page.theme}
    windowTitle="Welcome"
    title="Name your tenant"
    intro="Your account includes a tenant. Everything that you create belongs to it."
    steps={{ at: 0, names: SET_UP_STEPS }}
  >
    <Form
      action={page.action}
      errors={page.errors ?? []}
      buttons={
        <>
          <Button weight="primary">Continue</Button>
          <LinkButton weight="bare" href={page.laterHref}>
            Skip for now
          </LinkButton>
        </>
      }
    >
      <Field
        name="tenant"
        label="Tenant"
        help="Your product or company. You can change it later in Settings."
        value={page.name}
        error={errorAt(page.errors, 'tenant')}
        isRequired
        isFocused
      />
    </Form>
  </PlainLayout>
)
