import { SCOPE_FIELD, scopeOf } from '../../src/console/scope.ts'
import type { TestApp } from './app.ts'

/**
 * The body of a form of the console, with the scope that a page opened now would put into it for
 * whoever sends these headers. Without a session there is none.
 */
export function formBody(
  { operators }: Pick<TestApp, 'operators'>,
  headers: Record<string, string>,
  fields: ConstructorParameters<typeof URLSearchParams>[0] = {},
): URLSearchParams {
  const request = new Request('http://localhost/console', { headers })
  const visitor = operators.visitors.ifAny(request)
  const body = new URLSearchParams(fields)
  if (visitor && !body.has(SCOPE_FIELD)) body.set(SCOPE_FIELD, scopeOf(visitor, request))
  return body
}
