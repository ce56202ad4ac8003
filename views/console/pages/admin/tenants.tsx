import type { Plan, Tenant, TenantStatus } from '../../../../src/platform/tenants.ts'
import { money } from '../../amounts.ts'
import type { Column } from '../../data-table.tsx'
import { EmptyState } from '../../empty-state.tsx'
import { LinkButton } from '../../form/button.tsx'
import { PageHead } from '../../page-head.tsx'
import type { Pages } from '../../pager.tsx'
import { StatusBadge } from '../../status-badge.tsx'
import { Text } from '../../text.tsx'
import { Time } from '../../time.tsx'
import type { Tone } from '../../tone.ts'
import { url } from '../../url.ts'
import { countedTo, numeral } from '../../words.ts'
import { NoMatches, SearchedList } from './searched-list.tsx'

export const STATUSES = [
  'active',
  'suspended',
  'renewal_unpaid',
] as const satisfies readonly TenantStatus[]

export const STATUS_BADGES: Record<TenantStatus, { tone: Tone; word: string }> = {
  active: { tone: 'good', word: 'active' },
  suspended: { tone: 'bad', word: 'suspended' },
  renewal_unpaid: { tone: 'bad', word: 'renewal unpaid' },
}

export const PLAN_LABELS: Record<Plan, { label: string; text: string }> = {
  free: { label: 'Free', text: 'Included requests only.' },
  metered: { label: 'Metered', text: 'Requests beyond the included ones are billed, up to a cap.' },
  unlimited: { label: 'Unlimited', text: 'No limits and no charges.' },
}

interface TenantListRow extends Tenant {
  /** Requests of this month. */
  requests: number
  costCents: number
}

/** All tenants of the installation. */
export const TenantsPage = (page: {
  base: string
  rows: readonly TenantListRow[]
  /** Number of tenants by status, together at most `mostCounted`. */
  counts: Readonly<Record<TenantStatus, number>>
  mostCounted: number
  status: TenantStatus | undefined
  q: string
  pages: Pages
  now: number
}) => {
  const { base, counts, status, q } = page
  const path = '/console/admin/tenants'
  const all = sum(counts)
  const action = (
    <LinkButton weight="primary" href={url(base, `${path}/new`)}>
      Create tenant
    </LinkButton>
  )
  return (
    <>
      <PageHead
        title="Tenants"
        state={sentenceOn(counts, page.mostCounted)}
        action={all > 0 && action}
      />
      <SearchedList
        base={base}
        path={path}
        caption={q === '' ? 'Tenants, newest first' : 'Tenants by name'}
        search={{ label: 'Search by name or ID', value: q }}
        filter={{
          name: 'status',
          label: 'Status',
          value: status,
          questions: [
            { label: 'All', count: all },
            ...STATUSES.map((of) => ({ label: LABELS[of], value: of, count: counts[of] })),
          ],
        }}
        columns={columns(page.now)}
        rows={page.rows}
        pages={page.pages}
        {...(all === 0 && {
          empty: (
            <EmptyState
              icon="tenants"
              sentence="No tenants yet"
              next="Each tenant has its own API keys, users, jobs, bots and endpoints."
              action={action}
            />
          ),
        })}
        none={
          <NoMatches
            icon="tenants"
            sentence="No matching tenants"
            label="View all tenants"
            href={url(base, path)}
          />
        }
      />
    </>
  )
}

const LABELS: Record<TenantStatus, string> = {
  active: 'Active',
  suspended: 'Suspended',
  renewal_unpaid: 'Renewal unpaid',
}

const sum = (counts: Readonly<Record<TenantStatus, number>>): number =>
  STATUSES.reduce((all, status) => all + counts[status], 0)

function sentenceOn(
  counts: Readonly<Record<TenantStatus, number>>,
  most: number,
): { tone?: Tone; sentence: string } {
  const all = sum(counts)
  const held = all - counts.active
  if (all === 0) return { sentence: 'No tenants yet' }
  const count = `${countedTo(all, most)} ${all === 1 ? 'tenant' : 'tenants'}`
  if (held > 0) return { tone: 'warn', sentence: `${count}, ${numeral(held)} suspended` }
  return { tone: 'good', sentence: all === 1 ? `${count}, active` : `${count}, all active` }
}

const columns = (now: number): Column<TenantListRow>[] => [
  { label: 'Name', isWide: true, cell: ({ name }) => <Text text={name} limit={60} /> },
  { label: 'Plan', cell: ({ plan }) => PLAN_LABELS[plan].label },
  {
    label: 'Status',
    narrow: 'corner',
    cell: ({ status }) => <StatusBadge {...STATUS_BADGES[status]} />,
  },
  { label: 'Requests this month', align: 'right', cell: ({ requests }) => numeral(requests) },
  {
    label: 'Cost',
    align: 'right',
    cell: ({ plan, costCents }) => (plan === 'metered' || costCents > 0 ? money(costCents) : '–'),
  },
  {
    label: 'Created',
    align: 'right',
    cell: ({ created_at: at }) => <Time at={Date.parse(at)} now={now} />,
  },
]
