import type { Tariff, Usage } from '../../../src/platform/metering/index.ts'
import type { Tenant } from '../../../src/platform/tenants.ts'
import { type Fact, Facts } from '../facts.tsx'
import { Section } from '../section.tsx'
import { Time } from '../time.tsx'
import type { Tone } from '../tone.ts'
import type { UsageShown } from './usage.tsx'
import { count, dateOf, money, percentOf, requestsInWords } from './usage-words.ts'

/** How near the ends of the month are, and what happens there. */
export const Limits = ({ usage, tariff, tenant, now }: UsageShown) => {
  const { requests, included_requests: included, spend_cap_cents: cap } = usage
  return (
    <Section id="limits" title="Limits" isCard>
      {included !== null && included > 0 && (
        <MarkedMeter
          label="Included requests"
          used={requests}
          limit={included}
          amount={`${count(requests)} of ${count(included)}`}
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
  const price = `${money(tariff.price_cents)} for ${count(tariff.per)} requests, in part as well`
  const isOwn = tenant.spend_cap_cents !== null
  return [
    ['Plan', plan],
    ...(plan === 'metered' ? [['Beyond the included', price] as const] : []),
    ...(usage.spend_cap_cents === null
      ? []
      : [
          [
            'Spend cap',
            `${money(usage.spend_cap_cents)}${isOwn ? '' : ', the default one'}`,
          ] as const,
        ]),
    ...paceOf(usage, tariff, now),
    ['Left', left === null ? 'no limit' : requestsInWords(left)],
    [
      'Begins anew',
      <>
        {dateOf(resetsAt)}, 00:00 UTC (<Time at={Date.parse(resetsAt)} now={now} />)
      </>,
    ],
    ...(left === null
      ? []
      : [
          [
            'Once used up',
            'Requests that make something new get 429, with Retry-After up to then; reading goes on.',
          ] as const,
        ]),
  ]
}

const DAY_MS = 86_400_000

/** Where the month ends if it goes on as until now. Less than a day of it says too little. */
function paceOf(usage: Usage, { price_cents: price, per }: Tariff, now: number): Fact[] {
  const { month, plan, included_requests: included, spend_cap_cents: cap } = usage
  const begun = Date.parse(`${month}-01`)
  const passed = now - begun
  if (passed < DAY_MS || usage.requests === 0) return []
  const share = passed / (Date.parse(usage.resets_at) - begun)
  const requests = Math.round(usage.requests / share)
  const ends = `about ${requestsInWords(requests)} by the end of the month`
  if (plan !== 'metered') return [['At this pace', ends]]
  const billed = Math.max(0, requests - (included ?? 0))
  const cost = Math.min(Math.round((billed * price) / per), cap ?? Number.POSITIVE_INFINITY)
  return [['At this pace', `${ends}, for about ${money(cost)}`]]
}

const MARKS = [50, 80, 100] as const
const BAR = 8

/** An amount against its end, with the shares at which the tenant is told. */
const MarkedMeter = (meter: {
  label: string
  used: number
  limit: number
  amount: string
  /** False where it goes on beyond, at a price. */
  isEnd: boolean
}) => {
  const share = Math.min(100, (meter.used / meter.limit) * 100)
  const amount = `${meter.amount}, ${percentOf(meter.used, meter.limit)} %`
  return (
    <div class={`meter ${toneAt(share, meter.isEnd)}`}>
      <p>
        <span>{meter.label}</span>
        <span>{amount}</span>
      </p>
      <svg
        height="30"
        role="img"
        aria-label={`${meter.label}: ${amount}. Events tell of ${MARKS.join(', ')} %.`}
      >
        <rect class="lanetrack" width="100%" height={BAR} rx="3" />
        <rect class="span" width={`${share.toFixed(1)}%`} height={BAR} rx="3" />
        <g class="hint" fill="currentColor" stroke-width="0">
          {MARKS.map((mark) => (
            <>
              <rect x={`${mark - 0.15}%`} width="1" height={BAR + 4} />
              <text
                x={`${mark}%`}
                y="25"
                font-size="11"
                text-anchor={mark === 100 ? 'end' : 'middle'}
              >
                {mark} %
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
