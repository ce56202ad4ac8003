import { ENGINES, ENVIRONMENTS, type Engine } from '../../../src/platform/engines.ts'
import type { Tariff, Usage, UsageOfMonth } from '../../../src/platform/metering/index.ts'
import type { Tenant } from '../../../src/platform/tenants.ts'
import { Bars } from '../charts/bars.tsx'
import { Confirm } from '../confirm.tsx'
import { type Column, DataTable } from '../data-table.tsx'
import { EmptyState } from '../empty-state.tsx'
import { type Fact, Facts } from '../facts.tsx'
import { Button, LinkButton } from '../form/button.tsx'
import type { FormError } from '../form/error-summary.tsx'
import { Field } from '../form/field.tsx'
import { Form } from '../form/form.tsx'
import { PageHead } from '../page-head.tsx'
import { Columns, Section } from '../section.tsx'
import { Time } from '../time.tsx'
import type { Tone } from '../tone.ts'
import { url } from '../url.ts'

interface Page {
  base: string
  usage: Usage
  /** All that are kept, the newest first. */
  months: readonly UsageOfMonth[]
  tariff: Tariff
  tenant: Tenant
  /** False for a month that is over: what holds today says nothing about it. */
  isNow: boolean
  mayChange: boolean
  now: number
  /** A cap that came back as wrong. */
  typed?: string
  errors?: readonly FormError[]
}

/** How much of a month is used, and what it costs. */
export const UsagePage = (page: Page) => {
  const { base, usage, months, isNow } = page
  return (
    <>
      <PageHead
        title={`Usage in ${monthName(usage.month)}`}
        state={stateOf(page)}
        aside={
          !isNow && <LinkButton href={url(base, '/console/usage')}>Show this month</LinkButton>
        }
      />
      {isNow && <Limits {...page} />}
      {usage.requests === 0 ? (
        <EmptyState
          icon="usage"
          sentence={`No request counts for ${monthName(usage.month)}.`}
          next="Each request with a key counts, unless it was refused or failed on our side."
          action={<LinkButton href={url(base, '/console/keys')}>Keys</LinkButton>}
        />
      ) : (
        <Requests usage={usage} />
      )}
      {usage.plan === 'metered' && page.mayChange && isNow && <Cap {...page} />}
      <Section id="months" title="Months" note={AMOUNTS}>
        <DataTable
          caption="Months, the newest first"
          columns={MONTH_COLUMNS}
          rows={months}
          hrefOf={({ month }) => url(base, '/console/usage', { month })}
          empty={<p class="hint">No month has a request yet.</p>}
        />
      </Section>
    </>
  )
}

/** No currency is configured: an amount with a sign of ours could be taken for another than it is. */
const AMOUNTS = 'Amounts are in the currency that you have agreed on.'

const count = (amount: number): string => amount.toLocaleString('en')

/** `1,234.05`: exact, for as many cents as there may be. */
const money = (cents: number): string =>
  `${count(Math.floor(cents / 100))}.${`${cents % 100}`.padStart(2, '0')}`

/** The same as people type it. */
const amountOf = (cents: number | null): string =>
  cents === null ? '' : money(cents).replaceAll(',', '')

const inUtc = (at: string, options: Intl.DateTimeFormatOptions): string =>
  new Date(at).toLocaleDateString('en-GB', { ...options, timeZone: 'UTC' })

const monthName = (month: string): string =>
  inUtc(`${month}-01`, { month: 'long', year: 'numeric' })

const dateOf = (at: string): string =>
  inUtc(at, { day: 'numeric', month: 'short', year: 'numeric' })

const percentOf = (used: number, limit: number): number =>
  limit === 0 ? 100 : Math.floor((used / limit) * 100)

function stateOf(page: Page): { tone?: Tone; sentence: string } {
  const { usage, tenant, isNow } = page
  if (!isNow) return { sentence: sentenceOnPast(usage) }
  const sentence = sentenceOn(usage)
  if (tenant.status !== 'active')
    return { tone: 'bad', sentence: `Suspended: nothing new is taken in. ${sentence}` }
  if (usage.left_requests === 0)
    return {
      tone: 'bad',
      sentence: `${sentence} Nothing new is taken in before ${dateOf(usage.resets_at)}.`,
    }
  return { tone: isNear(usage) ? 'warn' : 'good', sentence }
}

const sentenceOnPast = ({ requests, cost_cents: cost }: Usage): string =>
  `${requestsInWords(requests)}, which cost ${money(cost)}.`

const requestsInWords = (requests: number): string =>
  `${count(requests)} ${requests === 1 ? 'request' : 'requests'}`

function sentenceOn(usage: Usage): string {
  const { requests, included_requests: included, plan, cost_cents: cost } = usage
  if (included === null) return `${requestsInWords(requests)} so far; the plan sets no limit.`
  if (requests < included)
    return `${count(requests)} of ${count(included)} included requests used, ${percentOf(requests, included)} %. Cost so far: ${money(cost)}.`
  const isAll = `All ${count(included)} included requests are used`
  if (plan === 'free') return `${isAll}. Cost so far: ${money(cost)}.`
  return `${isAll}; ${count(usage.billed_requests)} beyond them cost ${costOfCap(usage)}.`
}

const costOfCap = ({ cost_cents: cost, spend_cap_cents: cap }: Usage): string =>
  cap === null ? money(cost) : `${money(cost)} of at most ${money(cap)}`

const isNear = ({ plan, requests, included_requests: included, ...of }: Usage): boolean =>
  (plan === 'free' && percentOf(requests, included ?? 0) >= 80) ||
  (plan === 'metered' && of.spend_cap_cents !== null && capPercent(of) >= 80)

const capPercent = (of: { cost_cents: number; spend_cap_cents: number | null }): number =>
  of.spend_cap_cents ? percentOf(of.cost_cents, of.spend_cap_cents) : 0

/** How near the ends of the month are, and what happens there. */
const Limits = ({ usage, tariff, tenant, now }: Page) => {
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

const LABELS: Record<Engine, string> = {
  gate: 'Gate',
  clockwork: 'Clockwork',
  passepartout: 'Passepartout',
  relay: 'Relay',
}

/** Where the requests of a month went: by day, and by engine. */
const Requests = ({ usage }: { usage: Usage }) => {
  const engines = ENGINES.filter((engine) => usage.days.some((day) => day.engine === engine))
  const rows = engines.flatMap((engine) =>
    ENVIRONMENTS.flatMap((environment) => {
      const requests = sumOf(usage, { engine, environment })
      return requests === 0 ? [] : [{ engine, environment, requests }]
    }),
  )
  return (
    <>
      <Section id="days" title="By day" isCard>
        <Bars
          title="Requests a day"
          series={engines.map((engine) => LABELS[engine])}
          bars={daysOf(usage.month).map((day) => ({
            label: inUtc(day, { day: 'numeric', month: 'short' }),
            values: engines.map((engine) => sumOf(usage, { engine, day })),
          }))}
        />
      </Section>
      <Section id="engines" title="By engine">
        <DataTable caption="By engine and data" columns={engineColumns(usage)} rows={rows} />
      </Section>
    </>
  )
}

type Slice = Usage['days'][number]

const sumOf = ({ days }: Usage, of: Partial<Slice>): number =>
  days
    .filter(
      (row) =>
        (of.engine ?? row.engine) === row.engine &&
        (of.environment ?? row.environment) === row.environment &&
        (of.day ?? row.day) === row.day,
    )
    .reduce((sum, { requests }) => sum + requests, 0)

/** All of the month, so that the picture stays the same while the month fills it. */
function daysOf(month: string): string[] {
  const [year = 0, number = 0] = month.split('-').map(Number)
  const last = new Date(Date.UTC(year, number, 0)).getUTCDate()
  return Array.from({ length: last }, (_, day) => `${month}-${`${day + 1}`.padStart(2, '0')}`)
}

const engineColumns = ({ requests: all }: Usage): Column<Omit<Slice, 'day'>>[] => [
  { label: 'Engine', cell: ({ engine }) => LABELS[engine] },
  { label: 'Data', isWide: true, cell: ({ environment }) => environment },
  { label: 'Requests', align: 'right', cell: ({ requests }) => count(requests) },
  {
    label: 'Share',
    align: 'right',
    cell: ({ requests }) => `${((requests / Math.max(1, all)) * 100).toFixed(1)} %`,
  },
]

const MONTH_COLUMNS: Column<UsageOfMonth>[] = [
  { label: 'Month', isWide: true, cell: ({ month }) => monthName(month) },
  { label: 'Requests', align: 'right', cell: ({ requests }) => count(requests) },
  { label: 'Of them billed', align: 'right', cell: (of) => count(of.billed_requests) },
  { label: 'Cost', align: 'right', cell: (of) => money(of.cost_cents) },
]

/** What owners are ready to pay at most. */
const Cap = ({ base, tenant, tariff, usage, typed, errors }: Page) => {
  const own = tenant.spend_cap_cents
  const standard = money(tariff.default_spend_cap_cents)
  const error = errors?.find(({ name }) => name === 'spend_cap')?.message
  return (
    <Columns>
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
            help={`An amount like 20 or 20.50, for what goes beyond the included requests. Up to ${money(usage.cost_cents)}, which this month has cost so far, nothing new is taken in.`}
          />
        </Form>
      </Section>
      <Section id="default-cap" title="Default cap" isCard>
        <p class="hint">
          {own === null
            ? `As long as you set none, ${standard} a month is the most that is spent.`
            : `Without a cap of your own, ${standard} a month is the most that is spent.`}
        </p>
        {own !== null && (
          <Confirm
            id="uncap"
            verb="Take cap away"
            question="Take the spend cap away?"
            consequence={`The default one of ${standard} a month takes its place.`}
            action={url(base, '/console/usage/cap/remove')}
            isHarmless
          />
        )}
      </Section>
    </Columns>
  )
}
