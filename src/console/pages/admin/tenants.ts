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
import { submitted, typed } from '../../form.ts'
import { crumbTo, type Frames } from '../../frame.ts'
import type { ConsoleKit, OperatorVisit } from '../../kit.ts'
import type { Operators } from '../../operators/index.ts'
import { createListing } from './listing.ts'

const PATH = '/console/admin/tenants'

/** Tenants of the installation: list, creation, plan, suspension. */
export function tenantPages(parts: {
  kit: ConsoleKit
  frames: Frames
  tenants: Tenants
  metering: Metering
  operators: Pick<Operators, 'memberships'>
  clock: Clock
  /** Preselected plan of new tenants. */
  defaultPlan: Plan
}) {
  const { kit, frames, tenants, metering, operators, clock, defaultPlan } = parts
  const listing = createListing({ frames, path: PATH, cursor: createCursor('tenants', 'string') })

  async function list({ request, visitor }: Visit): Promise<Response> {
    const { asked, q, search, after, limit, cut } = listing(request)
    const status = STATUSES.find((one) => one === asked.get('status'))
    const found = tenants.page({ status, search, after, limit })
    const { lines, pages } = cut(found, ({ id }) => id, { status })
    await metering.flush()
    const children = TenantsPage({
      base: frames.base(),
      lines: lines.map((tenant) => ({ ...tenant, ...usedBy(tenant) })),
      counts: tenants.counts(),
      mostCounted: MAX_TENANTS_COUNTED,
      status,
      q,
      pages,
      now: clock.now(),
    })
    return frames.page({ request, visitor, title: 'Tenants', active: 'tenants', children })
  }

  /** Usage of this month, from the database. */
  function usedBy({ id }: Tenant): { requests: number; costCents: number } {
    const month = monthOf(dayOf(clock.now()))
    const used = metering.months(id).find((one) => one.month === month)
    return { requests: used?.requests ?? 0, costCents: used?.cost_cents ?? 0 }
  }

  function form({ request, visitor }: Visit, of: Returned = {}): Response {
    return frames.page({
      request,
      visitor,
      title: 'New tenant',
      active: 'tenants',
      above: [crumbTo(frames.base(), 'tenants')],
      status: of.errors ? 422 : 200,
      children: NewTenantPage({ base: frames.base(), defaultPlan, ...of }),
    })
  }

  async function create(visit: Visit, body: Fields): Promise<Response> {
    const { value, errors } = await submitted(
      async () =>
        tenants.create(visit.actor, { name: typed(body, 'name'), plan: planIn(body, 'plan') }),
      FIELDS,
    )
    return value
      ? frames.go(`${PATH}/${value.id}?done=created`)
      : form(visit, { typed: body, errors })
  }

  async function show({ request, visitor }: Visit, id: string): Promise<Response> {
    const tenant = tenants.find(id)
    const flash = flashOf(FLASHES, new URL(request.url).searchParams.get('done'))
    const children = TenantPage({
      base: frames.base(),
      tenant,
      usage: await metering.usageOf(id),
      members: operators.memberships.list(id),
      isMember: visitor.memberships.some(({ tenantId }) => tenantId === id),
      now: clock.now(),
    })
    const above = [crumbTo(frames.base(), 'tenants')]
    const { name: title } = tenant
    return frames.page({ request, visitor, title, active: 'tenants', above, flash, children })
  }

  async function change(visit: Visit, id: string, body: Fields): Promise<Response> {
    const before = tenants.find(id)
    const { value, errors } = await submitted(async () => {
      const change = changeIn(body, before)
      if (Object.keys(change).length === 0) return 'unchanged'
      await tenants.change(visit.actor, id, change)
      return 'changed'
    }, FIELDS)
    if (value) return frames.go(`${PATH}/${id}?done=${value}`)
    const { request, visitor } = visit
    return frames.page({
      request,
      visitor,
      title: 'Edit tenant',
      active: 'tenants',
      above: [crumbTo(frames.base(), 'tenants')],
      status: 422,
      children: ChangeTenantPage({ base: frames.base(), tenant: before, typed: body, errors }),
    })
  }

  async function suspend({ actor }: Visit, id: string, body: Fields): Promise<Response> {
    const reason =
      SUSPEND_REASONS.find((one) => one === typed(body, 'reason')) ??
      fail(
        invalid(`must be one of ${SUSPEND_REASONS.join(', ')}`, {
          field: 'reason',
          rule: 'choice',
        }),
      )
    await tenants.suspend(actor, tenants.find(id).id, reason)
    return frames.go(`${PATH}/${id}?done=suspended`)
  }

  async function resume({ actor }: Visit, id: string): Promise<Response> {
    if (tenants.find(id).status !== 'active') await tenants.resume(actor, id)
    return frames.go(`${PATH}/${id}?done=resumed`)
  }

  return new Elysia({ name: 'tenant pages', prefix: PATH, detail: { hide: true } })
    .use(kit)
    .get('', (visit) => list(visit), { instance: true })
    .get('/new', (visit) => form(visit), { instance: true })
    .post('', (visit) => create(visit, fieldsIn(visit.body)), { instance: true })
    .get('/:id', (visit) => show(visit, visit.params.id), { instance: true })
    .post('/:id/change', (visit) => change(visit, visit.params.id, fieldsIn(visit.body)), {
      instance: true,
    })
    .post('/:id/suspend', (visit) => suspend(visit, visit.params.id, fieldsIn(visit.body)), {
      instance: true,
    })
    .post('/:id/resume', (visit) => resume(visit, visit.params.id), { instance: true })
}

type Visit = OperatorVisit & { request: Request }

/** A rejected form. */
interface Returned {
  typed?: Fields
  errors?: readonly FormError[] | undefined
}

/** Fields of the form. */
const fieldsIn = (body: unknown): Fields => (body ?? {}) as Fields

/** Names of fields in the service, and in the form. */
const FIELDS = { name: 'name', plan: 'plan', spend_cap_cents: 'spend_cap' }

const planIn = (body: Fields, name: string): Plan =>
  PLANS.find((plan) => plan === typed(body, name)) ??
  fail(invalid(`must be one of ${PLANS.join(', ')}`, { field: 'plan', rule: 'choice' }))

/** Changed fields only, which is what the audit log records. */
function changeIn(body: Fields, before: Tenant): TenantChange {
  const [name, plan, spendCapCents] = [typed(body, 'name'), planIn(body, 'plan'), capIn(body)]
  return {
    ...(name !== before.name && { name }),
    ...(plan !== before.plan && { plan }),
    ...(spendCapCents !== before.spend_cap_cents && { spendCapCents }),
  }
}

function capIn(body: Fields): number | null {
  const cap = typed(body, 'spend_cap')
  return cap === '' ? null : centsIn(cap)
}

const FLASHES: Readonly<Record<string, { tone: 'good'; text: string }>> = {
  created: { tone: 'good', text: 'Tenant created. It has no API keys and no members yet.' },
  changed: { tone: 'good', text: 'Tenant updated.' },
  unchanged: { tone: 'good', text: 'No changes.' },
  suspended: { tone: 'good', text: 'Tenant suspended.' },
  resumed: { tone: 'good', text: 'Tenant resumed.' },
}
