import type { Fields } from '../../../../src/http/body.ts'
import { PLANS, type Plan, type Tenant } from '../../../../src/platform/tenants.ts'
import { amountOf } from '../../amounts.ts'
import { Button, LinkButton } from '../../form/button.tsx'
import { Radios } from '../../form/choices.tsx'
import type { FormError } from '../../form/error-summary.tsx'
import { Field } from '../../form/field.tsx'
import { Form } from '../../form/form.tsx'
import { Select } from '../../form/select.tsx'
import { errorAt, rawText } from '../../form/values.ts'
import { PageHead } from '../../page-head.tsx'
import { Text } from '../../text.tsx'
import { url } from '../../url.ts'
import { PLAN_LABELS } from './tenants.tsx'

const PATH = '/console/admin/tenants'
const MAX_NAME_LENGTH = 200

interface FormPage {
  base: string
  values?: Fields | undefined
  errors?: readonly FormError[] | undefined
}

/** Form for a new tenant. */
export const NewTenantPage = (page: FormPage & { defaultPlan: Plan }) => (
  <>
    <PageHead
      title="New tenant"
      state={{ sentence: 'A tenant has its own API keys, users and data.' }}
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
        value={rawText(page.values, 'name')}
        error={errorAt(page.errors, 'name')}
        help={`At most ${MAX_NAME_LENGTH} characters.`}
      />
      <Radios
        name="plan"
        label="Plan"
        value={rawText(page.values, 'plan') ?? page.defaultPlan}
        error={errorAt(page.errors, 'plan')}
        options={PLANS.map((value) => ({ value, ...PLAN_LABELS[value] }))}
      />
    </Form>
  </>
)

/** The form of the tenant's page, with its errors. */
export const ChangeTenantPage = (page: FormPage & { tenant: Tenant }) => {
  const href = url(page.base, `${PATH}/${page.tenant.id}`)
  return (
    <>
      <PageHead
        title="Edit tenant"
        state={{
          sentence: (
            <>
              <Text text={page.tenant.name} limit={60} /> has not changed yet.
            </>
          ),
        }}
      />
      <Form
        action={`${href}/change`}
        errors={page.errors ?? []}
        buttons={
          <>
            <Button weight="primary">Save tenant</Button>
            <LinkButton weight="bare" href={href}>
              Cancel
            </LinkButton>
          </>
        }
      >
        <TenantFields {...page} />
      </Form>
    </>
  )
}

/** Fields of an existing tenant. */
export const TenantFields = (form: FormPage & { tenant: Tenant }) => {
  const { tenant, values } = form
  return (
    <>
      <Field
        name="name"
        label="Name"
        value={rawText(values, 'name') ?? tenant.name}
        error={errorAt(form.errors, 'name')}
      />
      <Select
        name="plan"
        label="Plan"
        value={rawText(values, 'plan') ?? tenant.plan}
        error={errorAt(form.errors, 'plan')}
        options={PLANS.map((value) => ({ value, label: PLAN_LABELS[value].label }))}
      />
      <Field
        name="spend_cap"
        label="Spend cap"
        isRequired={false}
        value={rawText(values, 'spend_cap') ?? amountOf(tenant.spend_cap_cents)}
        error={errorAt(form.errors, 'spend_cap')}
        help="Maximum cost per month on the metered plan, such as 20 or 20.50. If empty, the default of the installation applies."
      />
    </>
  )
}
