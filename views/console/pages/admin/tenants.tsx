import type { Plan, Tenant, TenantStatus } from '../../../../src/platform/tenants.ts'
import { type Column, DataTable } from '../../data-table.tsx'
import { EmptyState } from '../../empty-state.tsx'
import { FilterBar } from '../../filter-bar.tsx'
import { LinkButton } from '../../form/button.tsx'
import { PageHead } from '../../page-head.tsx'
import { StatusMark } from '../../status-mark.tsx'
import { FilterChips } from '../../tabs.tsx'
import { Text } from '../../text.tsx'
import { Time } from '../../time.tsx'
import type { Tone } from '../../tone.ts'
import { url } from '../../url.ts'

export const STATUSES = [
  'active',
  'suspended',
  'renewal_unpaid',
] as const satisfies readonly TenantStatus[]

export const STATUS_MARKS: Record<TenantStatus, { tone: Tone; word: string }> = {
  active: { tone: 'good', word: 'active' },
  suspended: { tone: 'bad', word: 'suspended' },
  renewal_unpaid: { tone: 'bad', word: 'renewal unpaid' },
}

export const PLAN_LABELS: Record<Plan, { label: string; text: string }> = {
  free: { label: 'Free', text: 'What a month includes, and no more.' },
  metered: { label: 'Metered', text: 'Beyond that each request has its price, up to a cap.' },
  unlimited: { label: 'Unlimited', text: 'Nothing is refused or charged.' },
}

export const numeral = (count: number): string => count.toLocaleString('en')

export interface TenantLine extends Tenant {
  /** Of this month. */
  requests: number
  costCents: number
}

/** Everybody who runs something here. */
export const TenantsPage = (page: {
  base: string
  lines: readonly TenantLine[]
  all: readonly Tenant[]
  /** Those that the search is about, whatever their status. */
  found: readonly Tenant[]
  /** Of these, those of the status that is looked at. */
  total: number
  status: TenantStatus | undefined
  q: string
  newerHref: string | undefined
  olderHref: string | undefined
  now: number
}) => {
  const { base, lines, all, found, status, q, now } = page
  const path = '/console/admin/tenants'
  const action = (
    <LinkButton weight="primary" href={url(base, `${path}/new`)}>
      New tenant
    </LinkButton>
  )
  return (
    <>
      <PageHead
        title="Tenants"
        state={sentenceOn(all)}
        aside={<LinkButton href={url(base, '/console/admin/operators')}>Operators</LinkButton>}
        action={action}
      />
      {all.length > 0 && (
        <>
          <FilterBar
            action={url(base, path)}
            search={{ label: 'Name or id', value: q }}
            kept={{ status }}
            clearHref={q === '' && !status ? undefined : url(base, path)}
          />
          <FilterChips
            label="Status"
            tabs={[
              {
                label: 'All',
                href: url(base, path, { q }),
                count: found.length,
                isCurrent: !status,
              },
              ...STATUSES.map((of) => ({
                label: LABELS[of],
                href: url(base, path, { q, status: of }),
                count: found.filter((tenant) => tenant.status === of).length,
                isCurrent: of === status,
              })),
            ]}
          />
        </>
      )}
      <DataTable
        caption="Tenants, the newest first"
        columns={columns(now)}
        rows={lines}
        hrefOf={({ id }) => url(base, `${path}/${id}`)}
        idOf={({ id }) => id}
        pages={{
          newerHref: page.newerHref,
          olderHref: page.olderHref,
          extent: `${numeral(lines.length)} of ${numeral(page.total)}`,
        }}
        empty={
          all.length === 0 ? (
            <EmptyState
              icon="tenants"
              sentence="No tenant yet."
              next="A tenant owns keys, people, jobs, bots and endpoints, apart from all others."
              action={action}
            />
          ) : (
            <EmptyState
              icon="tenants"
              sentence="No tenant is like that."
              action={<LinkButton href={url(base, path)}>Show all tenants</LinkButton>}
            />
          )
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

function sentenceOn(all: readonly Tenant[]): { tone?: Tone; sentence: string } {
  const held = all.filter(({ status }) => status !== 'active').length
  if (all.length === 0) return { sentence: 'Nobody runs anything here yet.' }
  const count = all.length === 1 ? 'One tenant' : `${numeral(all.length)} tenants`
  if (held === 0)
    return {
      tone: 'good',
      sentence: all.length === 1 ? `${count}, active.` : `${count}, all active.`,
    }
  return { tone: 'warn', sentence: `${count}, ${numeral(held)} of them suspended.` }
}

const columns = (now: number): Column<TenantLine>[] => [
  { label: 'Name', isWide: true, cell: ({ name }) => <Text text={name} limit={60} /> },
  { label: 'Plan', cell: ({ plan }) => PLAN_LABELS[plan].label },
  {
    label: 'Status',
    narrow: 'corner',
    cell: ({ status }) => <StatusMark {...STATUS_MARKS[status]} />,
  },
  { label: 'Requests this month', align: 'right', cell: ({ requests }) => numeral(requests) },
  {
    label: 'Cost, cents',
    align: 'right',
    cell: ({ plan, costCents }) => (plan === 'metered' || costCents > 0 ? numeral(costCents) : '–'),
  },
  {
    label: 'Created',
    align: 'right',
    cell: ({ created_at: at }) => <Time at={Date.parse(at)} now={now} />,
  },
]
