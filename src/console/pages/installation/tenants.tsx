import { EmptyState } from '../../../../views/ui/empty-state.tsx'
import { Button, LinkButton } from '../../../../views/ui/form/button.tsx'
import { Radios, Select } from '../../../../views/ui/form/choices.tsx'
import { Field } from '../../../../views/ui/form/field.tsx'
import { PageForm } from '../../../../views/ui/form/form.tsx'
import { PageHead } from '../../../../views/ui/section.tsx'
import { sortingIn } from '../../../../views/ui/sorting.ts'
import { StatusBadge, type Tone } from '../../../../views/ui/status.tsx'
import { type Column, DataTable } from '../../../../views/ui/table.tsx'
import { Text } from '../../../../views/ui/text.tsx'
import { Time } from '../../../../views/ui/time.tsx'
import { amountOf, countedTo, money, numeral } from '../../../../views/ui/words.ts'
import type { Fields } from '../../../http/body.ts'
import type { Page } from '../../../platform/cursor.ts'
import { fail, invalid } from '../../../platform/errors.ts'
import { dayOf, monthOf } from '../../../platform/metering/months.ts'
import {
  MAX_TENANTS_COUNTED,
  PLANS,
  type Plan,
  type Tenant,
  type TenantChange,
  type TenantStatus,
} from '../../../platform/tenants.ts'
import { ExportMenu, exportOf, pagesOf } from '../../export.tsx'
import { centsIn, trimmedText } from '../../form.ts'
import { ListChips, ListFilters, NoMatches, useList } from '../../list.tsx'
import { good, type OperatorPageContext, page, usePage } from '../../page.tsx'

const ON_A_PAGE = 50
const SORTS = { created: 'desc', name: 'asc' } as const

const STATUSES = [
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

interface TenantList {
  found: Page<TenantListRow>
  counts: Readonly<Record<TenantStatus, number>>
}

/** All tenants of the installation. */
export const tenantList = page({
  path: '/tenants',
  section: 'tenants',
  right: 'admin',
  title: 'Tenants',

  async load(context): Promise<TenantList> {
    const found = matching(context, { cursor: context.position.cursor, limit: ON_A_PAGE })
    await context.metering.flush()
    const data = found.data.map((tenant) => ({ ...tenant, ...usedBy(context, tenant) }))
    return { found: { ...found, data }, counts: context.tenants.counts() }
  },

  view({ found, counts }) {
    const { href, query } = usePage()
    const { pagesTo, sortedBy } = useList()
    const all = sum(counts)
    const action = (
      <LinkButton weight="primary" href={href('/tenants/new')}>
        Create tenant
      </LinkButton>
    )
    return (
      <>
        <PageHead
          title="Tenants"
          state={sentenceOn(counts, MAX_TENANTS_COUNTED)}
          action={all > 0 && action}
          aside={all > 0 && <ExportMenu />}
        />
        {all > 0 && (
          <>
            <ListChips
              name="status"
              all={all}
              most={MAX_TENANTS_COUNTED}
              chips={STATUSES.map((value) => ({
                value,
                label: LABELS[value],
                count: counts[value],
                tone: STATUS_BADGES[value].tone,
              }))}
            />
            <ListFilters search={{ label: 'Search by name or ID' }} />
          </>
        )}
        <DataTable
          caption="Tenants"
          columns={COLUMNS}
          rows={found.data}
          hrefOf={({ id }) => href(`/tenants/${id}`)}
          idOf={({ id }) => id}
          pages={pagesTo(found.next_cursor)}
          {...(!query.q && { sorting: sortedBy(SORTS) })}
          empty={
            all > 0 ? (
              <NoMatches icon="tenants" noun="tenants" />
            ) : (
              <EmptyState
                icon="tenants"
                sentence="No tenants yet"
                next="Each tenant has its own API keys, users, jobs, bots and endpoints."
                action={action}
              />
            )
          }
        />
      </>
    )
  },

  files: {
    export: exportOf({
      name: 'tenants',
      columns: {
        id: ({ id }) => id,
        name: ({ name }) => name,
        plan: ({ plan }) => plan,
        status: ({ status }) => status,
        created_at: (tenant) => tenant.created_at,
      },
      slices: (context: OperatorPageContext) => pagesOf((of) => matching(context, of)),
    }),
  },
})

/** Tenants that match the filter of the query string, in its order. A search is sorted by name. */
function matching(
  { tenants, query }: OperatorPageContext,
  of: { cursor: string | undefined; limit: number },
) {
  const status = STATUSES.find((one) => one === query.status)
  const sorting = sortingIn(query.sort, SORTS)
  return tenants.page({ ...of, ...sorting, status, search: query.q || undefined })
}

/** Usage of this month, from the database. */
function usedBy({ metering, now }: OperatorPageContext, { id }: Tenant) {
  const month = monthOf(dayOf(now))
  const used = metering.months(id).find((one) => one.month === month)
  return { requests: used?.requests ?? 0, costCents: used?.cost_cents ?? 0 }
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

const COLUMNS: Column<TenantListRow>[] = [
  {
    label: 'Name',
    isWide: true,
    sort: 'name',
    cell: ({ name }) => <Text text={name} limit={60} />,
  },
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
    sort: 'created',
    cell: ({ created_at: at }) => <Time at={Date.parse(at)} />,
  },
]

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
      <PageForm
        action=""
        buttons={<Button weight="primary">Create tenant</Button>}
        cancel="/tenants"
      >
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
