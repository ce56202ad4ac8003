import { Button } from '../../../../views/ui/form/button.tsx'
import { Radios, Select } from '../../../../views/ui/form/choices.tsx'
import { Field } from '../../../../views/ui/form/field.tsx'
import { PageForm } from '../../../../views/ui/form/form.tsx'
import { PageHead } from '../../../../views/ui/section.tsx'
import { amountOf } from '../../../../views/ui/words.ts'
import type { Fields } from '../../../http/body.ts'
import { fail, invalid } from '../../../platform/errors.ts'
import { PLANS, type Plan, type Tenant, type TenantChange } from '../../../platform/tenants.ts'
import { centsIn } from '../../amount.ts'
import { trimmedText } from '../../form.ts'
import { good, page } from '../../page.tsx'
import { PLAN_LABELS } from './tenants.tsx'

const MAX_NAME_LENGTH = 200

/** Names of fields in the service, and in the form. */
export const TENANT_FIELDS = { name: 'name', plan: 'plan', spend_cap_cents: 'spend_cap' }

/** The form of a new tenant. */
export const newTenant = page({
  path: '/tenants/new',
  section: 'tenants',
  right: 'admin',
  title: 'New tenant',

  load: ({ config }) => ({ plan: config.metering.defaultPlan }),

  view: ({ plan }) => (
    <>
      <PageHead
        title="New tenant"
        state={{ sentence: 'A tenant has its own API keys, users and data.' }}
      />
      <PageForm action="" buttons={<Button weight="primary">Create tenant</Button>}>
        <Field name="name" label="Name" isFocused help={`At most ${MAX_NAME_LENGTH} characters.`} />
        <Radios
          name="plan"
          label="Plan"
          value={plan}
          options={PLANS.map((value) => ({ value, ...PLAN_LABELS[value] }))}
        />
      </PageForm>
    </>
  ),

  actions: {
    '': {
      right: 'admin',
      form: TENANT_FIELDS,
      flash: good('Tenant created. It has no API keys and no members yet.'),
      async run({ tenants, actor, fields }) {
        const wanted = { name: trimmedText(fields, 'name'), plan: planIn(fields) }
        const { id } = await tenants.create(actor, wanted)
        return { to: `/tenants/${id}` }
      },
    },
  },
})

/** Fields of an existing tenant. */
export const TenantFields = ({ tenant }: { tenant: Tenant }) => (
  <>
    <Field name="name" label="Name" value={tenant.name} />
    <Select
      name="plan"
      label="Plan"
      value={tenant.plan}
      options={PLANS.map((value) => ({ value, label: PLAN_LABELS[value].label }))}
    />
    <Field
      name="spend_cap"
      label="Spend cap"
      isRequired={false}
      value={amountOf(tenant.spend_cap_cents)}
      help="Maximum cost per month on the metered plan, such as 20 or 20.50. If empty, the default of the installation applies."
    />
  </>
)

const planIn = (fields: Fields): Plan =>
  PLANS.find((plan) => plan === trimmedText(fields, 'plan')) ??
  fail(invalid(`must be one of ${PLANS.join(', ')}`, { field: 'plan', rule: 'choice' }))

/** Changed fields only, which is what the audit log records. */
export function tenantChangeIn(fields: Fields, before: Tenant): TenantChange {
  const [name, plan, spendCapCents] = [trimmedText(fields, 'name'), planIn(fields), capIn(fields)]
  return {
    ...(name !== before.name && { name }),
    ...(plan !== before.plan && { plan }),
    ...(spendCapCents !== before.spend_cap_cents && { spendCapCents }),
  }
}

function capIn(fields: Fields): number | null {
  const cap = trimmedText(fields, 'spend_cap')
  return cap === '' ? null : centsIn(cap)
}
