import { Elysia } from 'elysia'
import type { FormError } from '../../../../views/console/form/error-summary.tsx'
import { TenantPage } from '../../../../views/console/pages/admin/tenant.tsx'
import {
  ChangeTenantPage,
  NewTenantPage,
} from '../../../../views/console/pages/admin/tenant-form.tsx'
import { STATUSES, TenantsPage } from '../../../../views/console/pages/admin/tenants.tsx'
import type { Fields } from '../../../http/body.ts'
import type { Clock } from '../../../platform/clock.ts'
import { createCursor } from '../../../platform/cursor.ts'
import { fail, invalid } from '../../../platform/errors.ts'
import type { Metering } from '../../../platform/metering/index.ts'
import { dayOf, monthOf } from '../../../platform/metering/months.ts'
import {
  MAX_TENANTS_COUNTED,
  PLANS,
  type Plan,
  SUSPEND_REASONS,
  type Tenant,
  type TenantChange,
  type Tenants,
} from '../../../platform/tenants.ts'
import { centsIn } from '../../amount.ts'
import { flashOf } from '../../flash.ts'
import { submitted, trimmedText } from '../../form.ts'
import { crumbTo, type Layout } from '../../layout.ts'
import type { ConsoleMiddleware, OperatorContext } from '../../middleware.ts'
import type { Operators } from '../../operators/index.ts'
import { createListing } from './listing.ts'

const PATH = '/console/admin/tenants'

/** Tenants of the installation: list, creation, plan, suspension. */
export function tenantPages(parts: {
  middleware: ConsoleMiddleware
  layout: Layout
  tenants: Tenants
  metering: Metering
  operators: Pick<Operators, 'memberships'>
  clock: Clock
  /** Preselected plan of new tenants. */
  defaultPlan: Plan
}) {
  const { middleware, layout, tenants, metering, operators, clock, defaultPlan } = parts
  const listing = createListing({ layout, path: PATH, cursor: createCursor('tenants', 'string') })

  async function list({ request, operator }: Context): Promise<Response> {
    const { params, q, search, after, limit, cut } = listing(request)
    const status = STATUSES.find((one) => one === params.get('status'))
    const found = tenants.page({ status, search, after, limit })
    const { rows, pages } = cut(found, ({ id }) => id, { status })
    await metering.flush()
    const children = TenantsPage({
      base: layout.base(),
      rows: rows.map((tenant) => ({ ...tenant, ...usedBy(tenant) })),
      counts: tenants.counts(),
      mostCounted: MAX_TENANTS_COUNTED,
      status,
      q,
      pages,
      now: clock.now(),
    })
    return layout.page({ request, operator, title: 'Tenants', active: 'tenants', children })
  }

  /** Usage of this month, from the database. */
  function usedBy({ id }: Tenant): { requests: number; costCents: number } {
    const month = monthOf(dayOf(clock.now()))
    const used = metering.months(id).find((one) => one.month === month)
    return { requests: used?.requests ?? 0, costCents: used?.cost_cents ?? 0 }
  }

  function form({ request, operator }: Context, of: Returned = {}): Response {
    return layout.page({
      request,
      operator,
      title: 'New tenant',
      active: 'tenants',
      above: [crumbTo(layout.base(), 'tenants')],
      status: of.errors ? 422 : 200,
      children: NewTenantPage({ base: layout.base(), defaultPlan, ...of }),
    })
  }

  async function create(context: Context, body: Fields): Promise<Response> {
    const { value, errors } = await submitted(
      async () =>
        tenants.create(context.actor, {
          name: trimmedText(body, 'name'),
          plan: planIn(body, 'plan'),
        }),
      FIELDS,
    )
    return value
      ? layout.go(`${PATH}/${value.id}?done=created`)
      : form(context, { values: body, errors })
  }

  async function show({ request, operator }: Context, id: string): Promise<Response> {
    const tenant = tenants.find(id)
    const flash = flashOf(FLASHES, new URL(request.url).searchParams.get('done'))
    const children = TenantPage({
      base: layout.base(),
      tenant,
      usage: await metering.usageOf(id),
      members: operators.memberships.list(id),
      isMember: operator.memberships.some(({ tenantId }) => tenantId === id),
      now: clock.now(),
    })
    const above = [crumbTo(layout.base(), 'tenants')]
    const { name: title } = tenant
    return layout.page({ request, operator, title, active: 'tenants', above, flash, children })
  }

  async function change(context: Context, id: string, body: Fields): Promise<Response> {
    const before = tenants.find(id)
    const { value, errors } = await submitted(async () => {
      const change = changeIn(body, before)
      if (Object.keys(change).length === 0) return 'unchanged'
      await tenants.change(context.actor, id, change)
      return 'changed'
    }, FIELDS)
    if (value) return layout.go(`${PATH}/${id}?done=${value}`)
    const { request, operator } = context
    return layout.page({
      request,
      operator,
      title: 'Edit tenant',
      active: 'tenants',
      above: [crumbTo(layout.base(), 'tenants')],
      status: 422,
      children: ChangeTenantPage({ base: layout.base(), tenant: before, values: body, errors }),
    })
  }

  async function suspend({ actor }: Context, id: string, body: Fields): Promise<Response> {
    const reason =
      SUSPEND_REASONS.find((one) => one === trimmedText(body, 'reason')) ??
      fail(
        invalid(`must be one of ${SUSPEND_REASONS.join(', ')}`, {
          field: 'reason',
          rule: 'choice',
        }),
      )
    await tenants.suspend(actor, tenants.find(id).id, reason)
    return layout.go(`${PATH}/${id}?done=suspended`)
  }

  async function resume({ actor }: Context, id: string): Promise<Response> {
    if (tenants.find(id).status !== 'active') await tenants.resume(actor, id)
    return layout.go(`${PATH}/${id}?done=resumed`)
  }

  return new Elysia({ name: 'tenant pages', prefix: PATH, detail: { hide: true } })
    .use(middleware)
    .get('', (context) => list(context), { instance: true })
    .get('/new', (context) => form(context), { instance: true })
    .post('', (context) => create(context, fieldsIn(context.body)), { instance: true })
    .get('/:id', (context) => show(context, context.params.id), { instance: true })
    .post('/:id/change', (context) => change(context, context.params.id, fieldsIn(context.body)), {
      instance: true,
    })
    .post(
      '/:id/suspend',
      (context) => suspend(context, context.params.id, fieldsIn(context.body)),
      { instance: true },
    )
    .post('/:id/resume', (context) => resume(context, context.params.id), { instance: true })
}

type Context = OperatorContext & { request: Request }

/** A rejected form. */
interface Returned {
  values?: Fields
  errors?: readonly FormError[] | undefined
}

/** Fields of the form. */
const fieldsIn = (body: unknown): Fields => (body ?? {}) as Fields

/** Names of fields in the service, and in the form. */
const FIELDS = { name: 'name', plan: 'plan', spend_cap_cents: 'spend_cap' }

const planIn = (body: Fields, name: string): Plan =>
  PLANS.find((plan) => plan === trimmedText(body, name)) ??
  fail(invalid(`must be one of ${PLANS.join(', ')}`, { field: 'plan', rule: 'choice' }))

/** Changed fields only, which is what the audit log records. */
function changeIn(body: Fields, before: Tenant): TenantChange {
  const [name, plan, spendCapCents] = [trimmedText(body, 'name'), planIn(body, 'plan'), capIn(body)]
  return {
    ...(name !== before.name && { name }),
    ...(plan !== before.plan && { plan }),
    ...(spendCapCents !== before.spend_cap_cents && { spendCapCents }),
  }
}

function capIn(body: Fields): number | null {
  const cap = trimmedText(body, 'spend_cap')
  return cap === '' ? null : centsIn(cap)
}

const FLASHES: Readonly<Record<string, { tone: 'good'; text: string }>> = {
  created: { tone: 'good', text: 'Tenant created. It has no API keys and no members yet.' },
  changed: { tone: 'good', text: 'Tenant updated.' },
  unchanged: { tone: 'good', text: 'No changes.' },
  suspended: { tone: 'good', text: 'Tenant suspended.' },
  resumed: { tone: 'good', text: 'Tenant resumed.' },
}
