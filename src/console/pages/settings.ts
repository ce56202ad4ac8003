import { Elysia } from 'elysia'
import type { FormError } from '../../../views/console/form/error-summary.tsx'
import { SettingsPage } from '../../../views/console/pages/settings.tsx'
import type { Fields } from '../../http/body.ts'
import type { Clock } from '../../platform/clock.ts'
import { forbidden } from '../../platform/errors.ts'
import type { Tenants } from '../../platform/tenants.ts'
import { submitted, trimmedText } from '../form.ts'
import type { Layout } from '../layout.ts'
import type { ConsoleMiddleware, TenantContext } from '../middleware.ts'
import { may } from '../operators/rights.ts'

/** Settings of a tenant. */
export function settingsPages(parts: {
  middleware: ConsoleMiddleware
  layout: Layout
  tenants: Tenants
  clock: Clock
  baseUrl: () => string
}) {
  const { middleware, layout, tenants, clock, baseUrl } = parts

  function show(
    { request, operator, tenant }: TenantContext & { request: Request },
    of: { nameValue?: string; errors?: readonly FormError[] } = {},
  ): Response {
    const isRenamed = new URL(request.url).searchParams.get('done') === 'renamed'
    return layout.page({
      request,
      operator,
      title: 'Settings',
      active: 'settings',
      flash: isRenamed ? RENAMED : undefined,
      status: of.errors ? 422 : 200,
      children: SettingsPage({
        ...of,
        base: layout.base(),
        apiUrl: baseUrl(),
        tenant: tenants.find(tenant.tenantId),
        mayRename: tenant.role === 'owner',
        maySeeKeys: may(tenant.role, 'keys'),
        now: clock.now(),
      }),
    })
  }

  async function rename(
    context: TenantContext & { request: Request },
    fields: Fields,
  ): Promise<Response> {
    const { actor, tenant } = context
    if (tenant.role !== 'owner') throw forbidden('only owners can rename a tenant')
    const name = trimmedText(fields, 'name')
    const { errors } = await submitted(() => tenants.change(actor, tenant.tenantId, { name }), {
      name: 'name',
    })
    return errors
      ? show(context, { nameValue: name, errors })
      : layout.go('/console/settings?done=renamed')
  }

  return new Elysia({ name: 'settings pages', prefix: '/console/settings', detail: { hide: true } })
    .use(middleware)
    .get('', (context) => show(context), { right: 'read' })
    .post('', (context) => rename(context, (context.body ?? {}) as Fields), { right: 'read' })
}

const RENAMED = { tone: 'good', text: 'Tenant renamed.' } as const
