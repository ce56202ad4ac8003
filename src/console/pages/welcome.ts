import { Elysia } from 'elysia'
import type { FormError } from '../../../views/console/form/error-summary.tsx'
import { WelcomePage } from '../../../views/console/pages/welcome.tsx'
import { url } from '../../../views/console/url.ts'
import type { Fields } from '../../http/body.ts'
import type { Tenants } from '../../platform/tenants.ts'
import { submitted, trimmedText } from '../form.ts'
import { type Layout, themeOf } from '../layout.ts'
import type { ConsoleMiddleware, TenantContext } from '../middleware.ts'
import { pageScopeOf } from '../scope.ts'

export const WELCOME_PATH = '/console/welcome'
const NEXT_PATH = '/console/first-key'

/** First page after sign-up, where an operator names the new tenant. */
export function welcomePages(parts: {
  middleware: ConsoleMiddleware
  layout: Layout
  tenants: Tenants
}) {
  const { middleware, layout, tenants } = parts

  const show = (
    { request, operator, tenant }: TenantContext & { request: Request },
    of: { nameValue?: string; errors?: readonly FormError[] } = {},
  ): Response =>
    layout.html(
      WelcomePage({
        base: layout.base(),
        theme: themeOf(request),
        action: url(layout.base(), WELCOME_PATH),
        name: of.nameValue ?? tenants.find(tenant.tenantId).name,
        errors: of.errors,
        laterHref: url(layout.base(), '/console'),
      }),
      of.errors ? 422 : 200,
      pageScopeOf(operator, request),
    )

  async function rename(
    context: TenantContext & { request: Request },
    fields: Fields,
  ): Promise<Response> {
    const { tenantId } = context.tenant
    const name = trimmedText(fields, 'tenant')
    if (name === tenants.find(tenantId).name) return layout.go(NEXT_PATH)
    const { errors } = await submitted(() => tenants.change(context.actor, tenantId, { name }), {
      name: 'tenant',
    })
    return errors ? show(context, { nameValue: name, errors }) : layout.go(NEXT_PATH)
  }

  return new Elysia({ name: 'welcome page', prefix: WELCOME_PATH, detail: { hide: true } })
    .use(middleware)
    .get('', (context) => show(context), { right: 'team' })
    .post('', (context) => rename(context, (context.body ?? {}) as Fields), { right: 'team' })
}
