import { createAddresses, selectedPlaceOf } from '../../src/console/addresses.ts'
import { PAGES } from '../../src/console/pages/index.ts'
import type { Environment } from '../../src/platform/engines.ts'
import type { TestApp } from './app.ts'

const { addressAt } = createAddresses(PAGES)

/** The address in a tenant of a path, `/jobs` or `/console/jobs`. */
export function addressOf(tenantId: string, path: string, environment: Environment = 'live') {
  const place = { area: 'tenant', tenantId, environment } as const
  const short = path.replace('/console', '')
  if (short === '/updates') return addressAt(place, '') + short
  return path.startsWith('/setup') ? path : addressAt(place, short)
}

/** An address without its tenant and environment. */
export const shortened = (address: string): string =>
  address.replace(/(?<=\/console)\/[\da-f-]{36}(\/(live|test))?(?=[/?#]|$)/, '')

/**
 * The address of a page, `/jobs` or `/console/jobs`, in the tenant and environment that the sender of
 * these headers has selected. An address with a tenant, or of anything but the console, stays as it is.
 */
export function addressIn(
  { operators }: Pick<TestApp, 'operators'>,
  headers: Record<string, string>,
  path: string,
): string {
  if (/^\/(setup|auth|reference|dashboard)\b|^\/console\/[\da-f-]{36}(\/|$)/.test(path)) return path
  const short = path.replace(/^\/console(?=[/?]|$)|^\/$/, '')
  // Reading the session counts for its rate limit.
  if (!addressOf('tenant', short).startsWith('/console/tenant')) return `/console${short}`
  const request = new Request('http://localhost/console', { headers })
  const operator = operators.currentOperator.ifAny(request)
  return operator ? addressAt(selectedPlaceOf(operator, request), short) : `/console${short}`
}
