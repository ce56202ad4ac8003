import { type AnyElysia, Elysia } from 'elysia'
import { type Addresses, CONSOLE, environmentIn, isOfTenant, selectedPlaceOf } from './addresses.ts'
import type { Layout } from './layout.ts'
import type { ConsoleMiddleware } from './middleware.ts'
import { type Operator, tenantScopeIn } from './operators/current-operator.ts'
import type { Page } from './page.tsx'

/** Page of operators without a tenant. */
const START = `${CONSOLE}/start`

/**
 * Redirects addresses without a tenant, such as `/console/jobs`, to the selected tenant, and former
 * addresses of the installation and of bots to their present ones.
 */
export function shortAddresses(
  { layout, middleware }: { layout: Layout; middleware: ConsoleMiddleware },
  { addressAt }: Addresses,
  pages: readonly Page[],
): AnyElysia {
  function goOn(request: Request, operator: Operator): Response {
    const { pathname, search } = new URL(request.url)
    const path = pathname.slice(CONSOLE.length)
    const address = addressAt(selectedPlaceOf(operator, request), path)
    return layout.go((address === pathname ? START : address) + search)
  }

  const routes: AnyElysia = new Elysia({ name: 'short addresses', detail: { hide: true } }).use(
    middleware,
  )
  for (const { path, files = {} } of pages.filter(isOfTenant))
    for (const address of [path, ...Object.keys(files).map((file) => `${path}/${file}`)])
      routes.get(CONSOLE + address, ({ request, operator }) => goOn(request, operator), {
        operator: true,
      })
  return routes
    .get(
      `${CONSOLE}/:tenant`,
      ({ request, params, operator }) => {
        const { tenantId } = tenantScopeIn(operator, params.tenant)
        const { environment } = selectedPlaceOf(operator, request)
        return layout.go(addressAt({ area: 'tenant', tenantId, environment }, ''))
      },
      { operator: true },
    )
    .get(
      `${CONSOLE}/bots/:environment`,
      ({ request, params, operator }) => {
        const place = { ...selectedPlaceOf(operator, request), environment: environmentIn(params) }
        return layout.go(addressAt(place, '/bots'))
      },
      { operator: true },
    )
    .get(`${CONSOLE}/admin/*`, ({ request }) => {
      const { pathname, search } = new URL(request.url)
      return layout.go(pathname.replace('/admin/', '/installation/') + search)
    })
}
