import { Elysia } from 'elysia'
import { SCOPE_FIELD } from '../../../views/console/scope.tsx'
import { url } from '../../../views/console/url.ts'
import type { Fields } from '../../http/body.ts'
import { fail, invalid } from '../../platform/errors.ts'
import { trimmedText } from '../form.ts'
import type { Layout } from '../layout.ts'
import type { ConsoleMiddleware } from '../middleware.ts'
import type { Operators } from '../operators/index.ts'
import { isOwnPath } from '../own-path.ts'
import { ENVIRONMENT_COOKIE, pageScopeIn } from '../scope.ts'

export const RESUBMIT_PATH = '/console/resubmit'
/** Path that the form is submitted to after the switch. */
export const THEN_FIELD = '_then'

/** Switches to the tenant and environment that a form was opened in, and resubmits the form there. */
export function resubmitPages(parts: {
  middleware: ConsoleMiddleware
  layout: Layout
  operators: Pick<Operators, 'scopes'>
  /** Cookie for a display preference. */
  preference: (name: string, value: string) => string
}) {
  const { middleware, layout, operators, preference } = parts

  return new Elysia({ name: 'resubmit pages', detail: { hide: true } }).use(middleware).post(
    RESUBMIT_PATH,
    async ({ operator, body }) => {
      const fields = body as Fields
      const { tenantId, environment } =
        pageScopeIn(trimmedText(fields, SCOPE_FIELD)) ??
        fail(
          invalid('must be a tenant and an environment, or the installation', {
            field: SCOPE_FIELD,
            rule: 'format',
          }),
        )
      const then = trimmedText(fields, THEN_FIELD)
      // Checked before the switch, which serves only this form.
      if (!isOwnPath(then))
        throw invalid('must be a path in the console', { field: THEN_FIELD, rule: 'format' })
      await operators.scopes.choose(operator, tenantId)
      return new Response(null, {
        // Unlike after 303, the browser keeps the method and the body.
        status: 307,
        headers: {
          location: url(layout.base(), then),
          ...(environment && { 'set-cookie': preference(ENVIRONMENT_COOKIE, environment) }),
        },
      })
    },
    { operator: 'unscoped' },
  )
}
