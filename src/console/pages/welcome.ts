import { Elysia } from 'elysia'
import type { FormError } from '../../../views/console/form/error-summary.tsx'
import { WelcomePage } from '../../../views/console/pages/welcome.tsx'
import { url } from '../../../views/console/url.ts'
import type { Fields } from '../../http/body.ts'
import type { Tenants } from '../../platform/tenants.ts'
import { submitted, typed } from '../form.ts'
import { type Frames, themeOf } from '../frame.ts'
import type { ConsoleKit, TenantVisit } from '../kit.ts'
import { scopeOf } from '../scope.ts'

export const WELCOME_PATH = '/console/welcome'
const NEXT_PATH = '/console/first-key'

/** First page after sign-up, where an operator names the new tenant. */
export function welcomePages(parts: { kit: ConsoleKit; frames: Frames; tenants: Tenants }) {
  const { kit, frames, tenants } = parts

  const show = (
    { request, visitor, tenant }: TenantVisit & { request: Request },
    of: { typedName?: string; errors?: readonly FormError[] } = {},
  ): Response =>
    frames.html(
      WelcomePage({
        base: frames.base(),
        theme: themeOf(request),
        action: url(frames.base(), WELCOME_PATH),
        name: of.typedName ?? tenants.find(tenant.tenantId).name,
        errors: of.errors,
        laterHref: url(frames.base(), '/console'),
      }),
      of.errors ? 422 : 200,
      scopeOf(visitor, request),
    )

  async function rename(
    visit: TenantVisit & { request: Request },
    fields: Fields,
  ): Promise<Response> {
    const { tenantId } = visit.tenant
    const name = typed(fields, 'tenant')
    if (name === tenants.find(tenantId).name) return frames.go(NEXT_PATH)
    const { errors } = await submitted(() => tenants.change(visit.actor, tenantId, { name }), {
      name: 'tenant',
    })
    return errors ? show(visit, { typedName: name, errors }) : frames.go(NEXT_PATH)
  }

  return new Elysia({ name: 'welcome page', prefix: WELCOME_PATH, detail: { hide: true } })
    .use(kit)
    .get('', (visit) => show(visit), { right: 'team' })
    .post('', (visit) => rename(visit, (visit.body ?? {}) as Fields), { right: 'team' })
}
