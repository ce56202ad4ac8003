import { pageScopeOf } from '../../src/console/scope.ts'
import { SCOPE_FIELD } from '../../views/console/scope.tsx'
import type { TestApp } from './app.ts'

/**
 * The body of a form of the console, with the scope that a page opened now would put into it for
 * the sender of these headers. Without a session there is none.
 */
export function formBody(
  { operators }: Pick<TestApp, 'operators'>,
  headers: Record<string, string>,
  fields: ConstructorParameters<typeof URLSearchParams>[0] = {},
): URLSearchParams {
  const request = new Request('http://localhost/console', { headers })
  const operator = operators.currentOperator.ifAny(request)
  const body = new URLSearchParams(fields)
  if (operator && !body.has(SCOPE_FIELD)) body.set(SCOPE_FIELD, pageScopeOf(operator, request))
  return body
}
