import { Elysia } from 'elysia'
import type { FormError } from '../../../views/console/form/error-summary.tsx'
import { SettingsPage } from '../../../views/console/pages/settings.tsx'
import type { Fields } from '../../http/body.ts'
import type { Clock } from '../../platform/clock.ts'
import { forbidden } from '../../platform/errors.ts'
import type { Tenants } from '../../platform/tenants.ts'
import { submitted, typed } from '../form.ts'
import type { Frames } from '../frame.ts'
import type { ConsoleKit, TenantVisit } from '../kit.ts'
import { may } from '../operators/rights.ts'

/** Settings of a tenant. */
export function settingsPages(parts: {
  kit: ConsoleKit
  frames: Frames
  tenants: Tenants
  clock: Clock
  baseUrl: () => string
}) {
  const { kit, frames, tenants, clock, baseUrl } = parts

  function show(
    { request, visitor, tenant }: TenantVisit & { request: Request },
    of: { typedName?: string; errors?: readonly FormError[] } = {},
  ): Response {
    const isRenamed = new URL(request.url).searchParams.get('done') === 'renamed'
    return frames.page({
      request,
      visitor,
      title: 'Settings',
      active: 'settings',
      flash: isRenamed ? RENAMED : undefined,
      status: of.errors ? 422 : 200,
      children: SettingsPage({
        ...of,
        base: frames.base(),
        apiUrl: baseUrl(),
        tenant: tenants.find(tenant.tenantId),
        mayRename: tenant.role === 'owner',
        maySeeKeys: may(tenant.role, 'keys'),
        now: clock.now(),
      }),
    })
  }

  async function rename(
    visit: TenantVisit & { request: Request },
    fields: Fields,
  ): Promise<Response> {
    const { actor, tenant } = visit
    if (tenant.role !== 'owner') throw forbidden('only owners can rename a tenant')
    const name = typed(fields, 'name')
    const { errors } = await submitted(() => tenants.change(actor, tenant.tenantId, { name }), {
      name: 'name',
    })
    return errors
      ? show(visit, { typedName: name, errors })
      : frames.go('/console/settings?done=renamed')
  }

  return new Elysia({ name: 'settings pages', prefix: '/console/settings', detail: { hide: true } })
    .use(kit)
    .get('', (visit) => show(visit), { right: 'read' })
    .post('', (visit) => rename(visit, (visit.body ?? {}) as Fields), { right: 'read' })
}

const RENAMED = { tone: 'good', text: 'Tenant renamed.' } as const
