import { Elysia } from 'elysia'
import type { FormError } from '../../../views/console/form/error-summary.tsx'
import { UsagePage } from '../../../views/console/pages/usage.tsx'
import type { Fields } from '../../http/body.ts'
import type { Clock } from '../../platform/clock.ts'
import { conflict } from '../../platform/errors.ts'
import type { Metering } from '../../platform/metering/index.ts'
import { dayOf, monthOf } from '../../platform/metering/months.ts'
import type { Tenants } from '../../platform/tenants.ts'
import { centsIn } from '../amount.ts'
import { flashOf } from '../flash.ts'
import { submitted, typed } from '../form.ts'
import type { Frames } from '../frame.ts'
import type { ConsoleKit, TenantVisit } from '../kit.ts'
import { may } from '../operators/rights.ts'

/** Usage and cost of a tenant, and its spend cap. */
export function usagePages(parts: {
  kit: ConsoleKit
  frames: Frames
  metering: Metering
  tenants: Tenants
  clock: Clock
}) {
  const { kit, frames, metering, tenants, clock } = parts

  async function show(
    { request, visitor, tenant, query }: Visit,
    of: { typed?: string; errors?: readonly FormError[] } = {},
  ): Promise<Response> {
    const { tenantId, role } = tenant
    const usage = await metering.usageOf(tenantId, query.month || undefined)
    return frames.page({
      request,
      visitor,
      title: 'Usage',
      active: 'usage',
      flash: flashOf(FLASHES, query.done),
      status: of.errors ? 422 : 200,
      children: UsagePage({
        ...of,
        base: frames.base(),
        usage,
        months: metering.months(tenantId).toReversed(),
        tariff: metering.tariff,
        tenant: tenants.find(tenantId),
        isNow: usage.month === monthOf(dayOf(clock.now())),
        mayChange: may(role, 'billing'),
        now: clock.now(),
      }),
    })
  }

  async function setCap(visit: Visit): Promise<Response> {
    const amount = typed(visit.body, 'spend_cap')
    requireMetered(visit)
    const { errors } = await submitted(
      () => tenants.change(visit.actor, visit.tenant.tenantId, { spendCapCents: centsIn(amount) }),
      { spend_cap_cents: 'spend_cap' },
    )
    return errors ? show(visit, { typed: amount, errors }) : frames.go('/console/usage?done=capped')
  }

  async function removeCap(visit: Visit): Promise<Response> {
    requireMetered(visit)
    await tenants.change(visit.actor, visit.tenant.tenantId, { spendCapCents: null })
    return frames.go('/console/usage?done=uncapped')
  }

  function requireMetered({ tenant }: TenantVisit) {
    if (tenants.find(tenant.tenantId).plan !== 'metered')
      throw conflict('only tenants on the metered plan have a spend cap')
  }

  return new Elysia({ name: 'usage pages', prefix: '/console/usage', detail: { hide: true } })
    .use(kit)
    .get('', (visit) => show(asked(visit)), { right: 'read' })
    .post('/cap', (visit) => setCap(asked(visit)), { right: 'billing' })
    .post('/cap/remove', (visit) => removeCap(asked(visit)), { right: 'billing' })
}

interface Visit extends TenantVisit {
  request: Request
  query: Record<string, string | undefined>
  body: Fields
}

const asked = (visit: TenantVisit & { request: Request; query: object; body: unknown }): Visit => ({
  ...visit,
  query: { ...visit.query },
  body: (visit.body ?? {}) as Fields,
})

const FLASHES: Readonly<Record<string, { tone: 'good'; text: string }>> = {
  capped: { tone: 'good', text: 'Spend cap set.' },
  uncapped: { tone: 'good', text: 'Spend cap removed. The default applies.' },
}
