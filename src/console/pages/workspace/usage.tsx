import { Bars } from '../../../../views/ui/charts/bars.tsx'
import { EmptyState } from '../../../../views/ui/empty-state.tsx'
import { LinkButton } from '../../../../views/ui/form/button.tsx'
import { PageHead, Section } from '../../../../views/ui/section.tsx'
import { sortingIn } from '../../../../views/ui/sorting.ts'
import type { Tone } from '../../../../views/ui/status.tsx'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { useTimes } from '../../../../views/ui/time.tsx'
import {
  capitalized,
  inUtc,
  money,
  monthName,
  numeral,
  percentOf,
  requestsInWords,
} from '../../../../views/ui/words.ts'
import { ENGINES, ENVIRONMENTS, type Engine } from '../../../platform/engines.ts'
import { conflict } from '../../../platform/errors.ts'
import type { Usage, UsageOfMonth } from '../../../platform/metering/index.ts'
import { dayOf, monthOf } from '../../../platform/metering/months.ts'
import { ENGINE_WORDS } from '../../engine-words.ts'
import { ExportMenu, exportOf } from '../../export.tsx'
import { centsIn, trimmedText } from '../../form.ts'
import { useList } from '../../list.tsx'
import { good, type PageContext, page, usePage } from '../../page.tsx'
import { sortRows } from '../../short-list.ts'
import { Limits, SpendCap, type UsageView } from './usage-limits.tsx'

const SORTS = { month: 'desc', requests: 'desc', billed: 'desc', cost: 'desc' } as const

/** Requests and cost of a month, and the spend cap. */
export const usagePage = page({
  path: '/usage',
  section: 'usage',
  right: 'read',
  title: 'Usage',

  async load(context): Promise<UsageView> {
    const { metering, tenants, tenantId, query, now } = context
    const usage = await metering.usageOf(tenantId, query.month || undefined)
    return {
      usage,
      months: monthsIn(context),
      tariff: metering.tariff,
      tenant: tenants.find(tenantId),
      isNow: usage.month === monthOf(dayOf(now)),
    }
  },

  view(view) {
    const { usage, months, isNow } = view
    const { href, may } = usePage()
    return (
      <>
        <PageHead
          title={`Usage in ${monthName(usage.month)}`}
          state={stateOf(view, useTimes().minute)}
          aside={!isNow && <LinkButton href={href('/usage')}>View this month</LinkButton>}
        />
        {isNow && <Limits {...view} />}
        {usage.requests === 0 ? (
          <EmptyState
            icon="usage"
            sentence={`No requests in ${monthName(usage.month)}`}
            next="Every request with an API key counts, except rejected requests and server errors."
            action={<LinkButton href={href('/keys')}>API keys</LinkButton>}
          />
        ) : (
          <Requests usage={usage} />
        )}
        {usage.plan === 'metered' && may('billing') && isNow && <SpendCap {...view} />}
        <Section
          id="months"
          title="Months"
          note={AMOUNTS}
          aside={months.length > 0 && <ExportMenu />}
        >
          <DataTable
            caption="Months"
            sorting={useList().sortedBy(SORTS)}
            columns={MONTH_COLUMNS}
            rows={months}
            hrefOf={({ month }) => href('/usage', { month })}
            empty={<p class="hint">No requests yet</p>}
          />
        </Section>
      </>
    )
  },

  files: {
    export: exportOf({
      name: 'usage',
      columns: {
        month: ({ month }) => month,
        requests: ({ requests }) => requests,
        billed_requests: (of) => of.billed_requests,
        cost_cents: (of) => of.cost_cents,
      },
      slices: (context: PageContext) => [monthsIn(context)],
    }),
  },

  actions: {
    cap: {
      right: 'billing',
      form: { spend_cap_cents: 'spend_cap' },
      flash: good('Spend cap set.'),
      run: (context) => setCap(context, () => centsIn(trimmedText(context.fields, 'spend_cap'))),
    },
    'cap/remove': {
      right: 'billing',
      flash: good('Spend cap removed. The default applies.'),
      run: (context) => setCap(context, () => null),
    },
  },
})

/** All months, in the order of the query string. */
const monthsIn = ({ metering, tenantId, query }: PageContext): UsageOfMonth[] =>
  sortRows(metering.months(tenantId), sortingIn(query.sort, SORTS), {
    month: ({ month }) => month,
    requests: ({ requests }) => requests,
    billed: (of) => of.billed_requests,
    cost: (of) => of.cost_cents,
  })

async function setCap(
  { tenants, tenantId, actor }: PageContext,
  capIn: () => number | null,
): Promise<void> {
  if (tenants.find(tenantId).plan !== 'metered')
    throw conflict('only tenants on the metered plan have a spend cap')
  await tenants.change(actor, tenantId, { spendCapCents: capIn() })
}

/** No currency is configured, so amounts have no symbol. */
const AMOUNTS = 'Amounts are in your billing currency.'

function stateOf(
  page: UsageView,
  minute: (at: number) => string,
): { tone?: Tone; sentence: string } {
  const { usage, tenant, isNow } = page
  if (!isNow) return { sentence: sentenceOnPast(usage) }
  const sentence = sentenceOn(usage)
  if (tenant.status !== 'active')
    return {
      tone: 'bad',
      sentence: `Suspended: requests that create something are rejected. ${sentence}`,
    }
  if (usage.left_requests === 0)
    return {
      tone: 'bad',
      sentence: `${sentence} Requests that create something are rejected until ${minute(Date.parse(usage.resets_at))}.`,
    }
  return { tone: isNear(usage) ? 'warn' : 'good', sentence }
}

const sentenceOnPast = ({ requests, cost_cents: cost }: Usage): string =>
  `${requestsInWords(requests)}. Cost: ${money(cost)}.`

function sentenceOn(usage: Usage): string {
  const { requests, included_requests: included, plan, cost_cents: cost } = usage
  if (included === null) return `${requestsInWords(requests)} so far. Your plan has no limit.`
  if (requests < included)
    return `${numeral(requests)} of ${numeral(included)} included requests used (${percentOf(requests, included)}%). Cost so far: ${money(cost)}.`
  const isAll = `All ${numeral(included)} included requests are used`
  if (plan === 'free') return `${isAll}. Cost so far: ${money(cost)}.`
  return `${isAll}. Cost of ${requestsInWords(usage.billed_requests)} beyond them: ${costOfCap(usage)}.`
}

const costOfCap = ({ cost_cents: cost, spend_cap_cents: cap }: Usage): string =>
  cap === null ? money(cost) : `${money(cost)} (cap: ${money(cap)})`

const isNear = ({ plan, requests, included_requests: included, ...of }: Usage): boolean =>
  (plan === 'free' && percentOf(requests, included ?? 0) >= 80) ||
  (plan === 'metered' && of.spend_cap_cents !== null && capPercent(of) >= 80)

const capPercent = (of: { cost_cents: number; spend_cap_cents: number | null }): number =>
  of.spend_cap_cents ? percentOf(of.cost_cents, of.spend_cap_cents) : 0

const LABELS: Record<Engine, string> = {
  gate: 'Users',
  clockwork: 'Jobs',
  passepartout: 'Messenger login',
  relay: 'Webhooks',
  notifications: 'Notifications',
  manifest: 'Manifest',
}

/** Requests of a month by day and by engine. */
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
          title="Requests per day"
          series={engines.map((engine) => LABELS[engine])}
          bars={daysOf(usage.month).map((day) => ({
            label: inUtc(day, { day: 'numeric', month: 'short' }),
            values: engines.map((engine) => sumOf(usage, { engine, day })),
          }))}
        />
      </Section>
      <Section id="engines" title="By engine">
        <DataTable caption="By engine and environment" columns={engineColumns(usage)} rows={rows} />
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

/** All days of the month, so that the chart keeps its scale during the month. */
function daysOf(month: string): string[] {
  const [year = 0, number = 0] = month.split('-').map(Number)
  const last = new Date(Date.UTC(year, number, 0)).getUTCDate()
  return Array.from({ length: last }, (_, day) => `${month}-${`${day + 1}`.padStart(2, '0')}`)
}

const engineColumns = ({ requests: all }: Usage): Column<Omit<Slice, 'day'>>[] => [
  { label: 'Engine', cell: ({ engine }) => ENGINE_WORDS[engine].label },
  { label: 'Environment', cell: ({ environment }) => capitalized(environment) },
  { label: 'Requests', align: 'right', cell: ({ requests }) => numeral(requests) },
  {
    label: 'Share',
    align: 'right',
    cell: ({ requests }) => `${((requests / Math.max(1, all)) * 100).toFixed(1)}%`,
  },
]

const MONTH_COLUMNS: Column<UsageOfMonth>[] = [
  { label: 'Month', isWide: true, sort: 'month', cell: ({ month }) => monthName(month) },
  {
    label: 'Requests',
    align: 'right',
    sort: 'requests',
    cell: ({ requests }) => numeral(requests),
  },
  { label: 'Billed', align: 'right', sort: 'billed', cell: (of) => numeral(of.billed_requests) },
  { label: 'Cost', align: 'right', sort: 'cost', cell: (of) => money(of.cost_cents) },
]
