import type { Tariff, Usage } from '../../../src/platform/metering/index.ts'
import type { Tenant } from '../../../src/platform/tenants.ts'
import { Confirm } from '../confirm.tsx'
import { Button } from '../form/button.tsx'
import type { FormError } from '../form/error-summary.tsx'
import { Field } from '../form/field.tsx'
import { Form } from '../form/form.tsx'
import { errorAt } from '../form/values.ts'
import { Section } from '../section.tsx'
import { url } from '../url.ts'
import { amountOf, money } from './usage-words.ts'

interface CapProps {
  base: string
  usage: Usage
  tariff: Tariff
  tenant: Tenant
  /** Rejected cap, as typed. */
  input?: string
  errors?: readonly FormError[]
}

/** Form for the monthly spend cap. */
export const Cap = ({ base, tenant, tariff, usage, input, errors }: CapProps) => {
  const own = tenant.spend_cap_cents
  const standard = money(tariff.default_spend_cap_cents)
  const error = errorAt(errors, 'spend_cap')
  return (
    <Section id="cap" title="Spend cap" isCard>
      <Form
        action={url(base, '/console/usage/cap')}
        errors={errors}
        buttons={<Button weight="primary">Set cap</Button>}
      >
        <Field
          name="spend_cap"
          label="Monthly cap"
          value={input ?? amountOf(own)}
          placeholder={amountOf(tariff.default_spend_cap_cents)}
          error={error}
          help={`An amount such as 20 or 20.50, for requests beyond the included ones. This month has cost ${money(usage.cost_cents)} so far: with a cap of that or less, requests that create something are rejected. Without your own cap, the default of ${standard} per month applies.`}
        />
      </Form>
      {own !== null && (
        <div class="aftercap">
          <Confirm
            id="uncap"
            verb="Remove cap"
            question="Remove the spend cap?"
            consequence={`The default of ${standard} per month applies instead.`}
            action={url(base, '/console/usage/cap/remove')}
            isHarmless
            isSmall
          />
        </div>
      )}
    </Section>
  )
}
