import { Confirm } from '../confirm.tsx'
import { Button } from '../form/button.tsx'
import { Field } from '../form/field.tsx'
import { Form } from '../form/form.tsx'
import { Section } from '../section.tsx'
import { url } from '../url.ts'
import type { UsageShown } from './usage.tsx'
import { amountOf, money } from './usage-words.ts'

/** What owners are ready to pay at most. */
export const Cap = ({ base, tenant, tariff, usage, typed, errors }: UsageShown) => {
  const own = tenant.spend_cap_cents
  const standard = money(tariff.default_spend_cap_cents)
  const error = errors?.find(({ name }) => name === 'spend_cap')?.message
  return (
    <Section id="cap" title="Spend cap" isCard>
      <Form
        action={url(base, '/console/usage/cap')}
        errors={errors}
        buttons={<Button weight="primary">Set cap</Button>}
      >
        <Field
          name="spend_cap"
          label="At most, a month"
          value={typed ?? amountOf(own)}
          placeholder={amountOf(tariff.default_spend_cap_cents)}
          error={error}
          help={`An amount like 20 or 20.50, for what goes beyond the included requests. Up to ${money(usage.cost_cents)}, which this month has cost so far, nothing new is taken in. ${own === null ? 'As long as you set none' : 'Without a cap of your own'}, ${standard} a month is the most that is spent.`}
        />
      </Form>
      {own !== null && (
        <div class="aftercap">
          <Confirm
            id="uncap"
            verb="Take cap away"
            question="Take the spend cap away?"
            consequence={`The default one of ${standard} a month takes its place.`}
            action={url(base, '/console/usage/cap/remove')}
            isHarmless
            isSmall
          />
        </div>
      )}
    </Section>
  )
}
