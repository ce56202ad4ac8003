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
import { submitted, trimmedText } from '../form.ts'
import type { Layout } from '../layout.ts'
import type { ConsoleMiddleware, TenantContext } from '../middleware.ts'
import { may } from '../operators/rights.ts'

/** Usage and cost of a tenant, and its spend cap. */
export function usagePages(parts: {
  middleware: ConsoleMiddleware
  layout: Layout
  metering: Metering
  tenants: Tenants
  clock: Clock
}) {
  const { middleware, layout, metering, tenants, clock } = parts

  async function show(
    { request, operator, tenant, query }: Context,
    of: { input?: string; errors?: readonly FormError[] } = {},
  ): Promise<Response> {
    const { tenantId, role } = tenant
    const usage = await metering.usageOf(tenantId, query.month || undefined)
    return layout.page({
      request,
      operator,
      title: 'Usage',
      active: 'usage',
      flash: flashOf(FLASHES, query.done),
      status: of.errors ? 422 : 200,
      children: UsagePage({
        ...of,
        base: layout.base(),
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

  async function setCap(context: Context): Promise<Response> {
    const amount = trimmedText(context.body, 'spend_cap')
    requireMetered(context)
    const { errors } = await submitted(
      () =>
        tenants.change(context.actor, context.tenant.tenantId, { spendCapCents: centsIn(amount) }),
      { spend_cap_cents: 'spend_cap' },
    )
    return errors
      ? show(context, { input: amount, errors })
      : layout.go('/console/usage?done=capped')
  }

  async function removeCap(context: Context): Promise<Response> {
    requireMetered(context)
    await tenants.change(context.actor, context.tenant.tenantId, { spendCapCents: null })
    return layout.go('/console/usage?done=uncapped')
  }

  function requireMetered({ tenant }: TenantContext) {
    if (tenants.find(tenant.tenantId).plan !== 'metered')
      throw conflict('only tenants on the metered plan have a spend cap')
  }

  return new Elysia({ name: 'usage pages', prefix: '/console/usage', detail: { hide: true } })
    .use(middleware)
    .get('', (context) => show(contextOf(context)), { right: 'read' })
    .post('/cap', (context) => setCap(contextOf(context)), { right: 'billing' })
    .post('/cap/remove', (context) => removeCap(contextOf(context)), { right: 'billing' })
}

interface Context extends TenantContext {
  request: Request
  query: Record<string, string | undefined>
  body: Fields
}

const contextOf = (
  context: TenantContext & { request: Request; query: object; body: unknown },
): Context => ({ ...context, query: { ...context.query }, body: (context.body ?? {}) as Fields })

const FLASHES: Readonly<Record<string, { tone: 'good'; text: string }>> = {
  capped: { tone: 'good', text: 'Spend cap set.' },
  uncapped: { tone: 'good', text: 'Spend cap removed. The default applies.' },
}
