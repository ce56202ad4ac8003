import type { Fields } from '../../../../src/http/body.ts'
import { PLANS, type Plan, type Tenant } from '../../../../src/platform/tenants.ts'
import { Button, LinkButton } from '../../form/button.tsx'
import { Radios } from '../../form/choices.tsx'
import type { FormError } from '../../form/error-summary.tsx'
import { Field } from '../../form/field.tsx'
import { Form } from '../../form/form.tsx'
import { Select } from '../../form/select.tsx'
import { PageHead } from '../../page-head.tsx'
import { Text } from '../../text.tsx'
import { url } from '../../url.ts'
import { PLAN_LABELS } from './tenants.tsx'

const PATH = '/console/admin/tenants'
const LONGEST_NAME = 200

interface FormPage {
  base: string
  typed?: Fields | undefined
  errors?: readonly FormError[] | undefined
}

const textIn = (fields: Fields | undefined, name: string): string | undefined => {
  const value = fields?.[name]
  return typeof value === 'string' ? value : undefined
}

const messageIn = ({ errors }: FormPage, name: string) =>
  errors?.find((error) => error.name === name)?.message

/** Names a tenant, and says what it may use. */
export const NewTenantPage = (page: FormPage & { defaultPlan: Plan }) => (
  <>
    <PageHead
      title="New tenant"
      state={{ sentence: 'It owns its keys, people and data; no other tenant sees them.' }}
    />
    <Form
      action={url(page.base, PATH)}
      errors={page.errors ?? []}
      buttons={<Button weight="primary">Create tenant</Button>}
    >
      <Field
        name="name"
        label="Name"
        isFocused={!page.errors}
        value={textIn(page.typed, 'name')}
        error={messageIn(page, 'name')}
        help={`What people call it; at most ${LONGEST_NAME} characters.`}
      />
      <Radios
        name="plan"
        label="Plan"
        value={textIn(page.typed, 'plan') ?? page.defaultPlan}
        error={messageIn(page, 'plan')}
        options={PLANS.map((value) => ({ value, ...PLAN_LABELS[value] }))}
      />
    </Form>
  </>
)

/** The form of a tenant's page again, where it was filled in wrong. */
export const ChangeTenantPage = (page: FormPage & { tenant: Tenant }) => {
  const href = url(page.base, `${PATH}/${page.tenant.id}`)
  return (
    <>
      <PageHead
        title="Change tenant"
        state={{
          sentence: (
            <>
              Nothing of <Text text={page.tenant.name} limit={60} /> has changed yet.
            </>
          ),
        }}
      />
      <Form
        action={`${href}/change`}
        errors={page.errors ?? []}
        buttons={
          <>
            <Button weight="primary">Change tenant</Button>
            <LinkButton weight="bare" href={href}>
              Keep
            </LinkButton>
          </>
        }
      >
        <TenantFields {...page} />
      </Form>
    </>
  )
}

/** Of one that is there already. */
export const TenantFields = (form: FormPage & { tenant: Tenant }) => {
  const { tenant, typed } = form
  return (
    <>
      <Field
        name="name"
        label="Name"
        value={textIn(typed, 'name') ?? tenant.name}
        error={messageIn(form, 'name')}
      />
      <Select
        name="plan"
        label="Plan"
        value={textIn(typed, 'plan') ?? tenant.plan}
        error={messageIn(form, 'plan')}
        options={PLANS.map((value) => ({ value, label: PLAN_LABELS[value].label }))}
      />
      <Field
        name="spend_cap_cents"
        label="Spend cap"
        isRequired={false}
        suffix="cents"
        value={textIn(typed, 'spend_cap_cents') ?? tenant.spend_cap_cents?.toString() ?? ''}
        error={messageIn(form, 'spend_cap_cents')}
        help="Most that a month on the metered plan may cost. Left empty, the default cap of the installation."
      />
    </>
  )
}
