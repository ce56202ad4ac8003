import { Confirm } from '../../../../views/ui/confirm.tsx'
import { Button } from '../../../../views/ui/form/button.tsx'
import { Field } from '../../../../views/ui/form/field.tsx'
import { PageForm } from '../../../../views/ui/form/form.tsx'
import { type Fact, Facts, Section } from '../../../../views/ui/section.tsx'
import type { Tone } from '../../../../views/ui/status.tsx'
import { Time } from '../../../../views/ui/time.tsx'
import {
  amountOf,
  capitalized,
  listed,
  money,
  numeral,
  percentOf,
  requestsInWords,
} from '../../../../views/ui/words.ts'
import { DAY_MS } from '../../../platform/durations.ts'
import type { Tariff, Usage, UsageOfMonth } from '../../../platform/metering/index.ts'
import type { Tenant } from '../../../platform/tenants.ts'
import { usePage } from '../../page.tsx'

export interface UsageView {
  usage: Usage
  /** All stored months, newest first. */
  months: readonly UsageOfMonth[]
  tariff: Tariff
  tenant: Tenant
  /** False for a past month, to which today's limits don't apply. */
  isNow: boolean
}

/** Limits of the month, and what happens at the limit. */
export const Limits = ({ usage, tariff, tenant }: UsageView) => {
  const { now } = usePage()
  const { requests, included_requests: included, spend_cap_cents: cap } = usage
  return (
    <Section id="limits" title="Limits" isCard>
      {included !== null && included > 0 && (
        <MarkedMeter
          label="Included requests"
          used={requests}
          limit={included}
          amount={`${numeral(requests)} of ${numeral(included)}`}
          isEnd={usage.plan === 'free'}
        />
      )}
      {cap !== null && cap > 0 && tariff.price_cents > 0 && (
        <MarkedMeter
          label="Spend cap"
          used={usage.cost_cents}
          limit={cap}
          amount={`${money(usage.cost_cents)} of ${money(cap)}`}
          isEnd
        />
      )}
      <Facts facts={factsOf(usage, tariff, tenant, now)} />
    </Section>
  )
}

function factsOf(usage: Usage, tariff: Tariff, tenant: Tenant, now: number): Fact[] {
  const { plan, left_requests: left, resets_at: resetsAt } = usage
  const price = `${money(tariff.price_cents)} per ${numeral(tariff.per)} requests, prorated`
  const isOwn = tenant.spend_cap_cents !== null
  return [
    ['Plan', capitalized(plan)],
    ...(plan === 'metered' ? [['Price beyond included', price] as const] : []),
    ...(usage.spend_cap_cents === null
      ? []
      : [['Spend cap', `${money(usage.spend_cap_cents)}${isOwn ? '' : ' (default)'}`] as const]),
    ...paceOf(usage, tariff, now),
    ['Remaining', left === null ? 'Unlimited' : requestsInWords(left)],
    ['Resets', <Time at={Date.parse(resetsAt)} />],
    ...(left === null
      ? []
      : [
          [
            'At the limit',
            'Requests that create something return 429 with Retry-After until the reset. Reads keep working.',
          ] as const,
        ]),
  ]
}

/** Forecast for the month; none on its first day. */
function paceOf(usage: Usage, { price_cents: price, per }: Tariff, now: number): Fact[] {
  const { month, plan, included_requests: included, spend_cap_cents: cap } = usage
  const begun = Date.parse(`${month}-01`)
  const passed = now - begun
  if (passed < DAY_MS || usage.requests === 0) return []
  const share = passed / (Date.parse(usage.resets_at) - begun)
  const requests = Math.round(usage.requests / share)
  const ends = `About ${requestsInWords(requests)} by the end of the month`
  if (plan !== 'metered') return [['Forecast', ends]]
  const billed = Math.max(0, requests - (included ?? 0))
  const cost = Math.min(Math.round((billed * price) / per), cap ?? Number.POSITIVE_INFINITY)
  return [['Forecast', `${ends}, for about ${money(cost)}`]]
}

const THRESHOLDS = [50, 80, 100] as const
const BAR = 8

/** A usage meter, marked where Gatehouse sends usage events. */
const MarkedMeter = (meter: {
  label: string
  used: number
  limit: number
  amount: string
  /** False if requests beyond the limit are billed. */
  isEnd: boolean
}) => {
  const share = Math.min(100, (meter.used / meter.limit) * 100)
  const amount = `${meter.amount}, ${percentOf(meter.used, meter.limit)}%`
  return (
    <div class={`meter ${toneAt(share, meter.isEnd)}`}>
      <p>
        <span>{meter.label}</span>
        <span>{amount}</span>
      </p>
      <svg
        height="30"
        role="img"
        aria-label={`${meter.label}: ${amount}. Events are sent at ${listed(THRESHOLDS.map((threshold) => `${threshold}%`))}.`}
      >
        <rect class="lanetrack" width="100%" height={BAR} rx="3" />
        <rect class="span" width={`${share.toFixed(1)}%`} height={BAR} rx="3" />
        <g class="hint" fill="currentColor" stroke-width="0">
          {THRESHOLDS.map((threshold) => (
            <>
              <rect x={`${threshold - 0.15}%`} width="1" height={BAR + 4} />
              <text
                x={`${threshold}%`}
                y="25"
                font-size="11"
                text-anchor={threshold === 100 ? 'end' : 'middle'}
              >
                {threshold}%
              </text>
            </>
          ))}
        </g>
      </svg>
    </div>
  )
}

function toneAt(share: number, isEnd: boolean): Tone | 'accent' {
  if (!isEnd || share < 80) return 'accent'
  return share < 100 ? 'warn' : 'bad'
}

/** Form for the monthly spend cap. */
export const SpendCap = ({ tenant, tariff, usage }: UsageView) => {
  const own = tenant.spend_cap_cents
  const standard = money(tariff.default_spend_cap_cents)
  return (
    <Section id="cap" title="Spend cap" isCard>
      <PageForm action="cap" buttons={<Button weight="primary">Set cap</Button>}>
        <Field
          name="spend_cap"
          label="Monthly cap"
          value={amountOf(own)}
          placeholder={amountOf(tariff.default_spend_cap_cents)}
          help={`An amount such as 20 or 20.50, for requests beyond the included ones. This month has cost ${money(usage.cost_cents)} so far: with a cap of that or less, requests that create something are rejected. Without your own cap, the default of ${standard} per month applies.`}
        />
      </PageForm>
      {own !== null && (
        <div class="aftercap">
          <Confirm
            id="uncap"
            verb="Remove cap"
            question="Remove the spend cap?"
            consequence={`The default of ${standard} per month applies instead.`}
            action={usePage().actionHref('cap/remove')}
            isHarmless
            isSmall
          />
        </div>
      )}
    </Section>
  )
}
