import { type Query, url } from '../../views/ui/url.ts'
import { preferenceIn } from '../http/cookies.ts'
import { ENVIRONMENTS, type Environment } from '../platform/engines.ts'
import { notFound } from '../platform/errors.ts'
import type { Operator } from './operators/current-operator.ts'
import type { Access } from './operators/rights.ts'

export const CONSOLE = '/console'

/** What begins the path of every page. */
export const PATHS_OF_PAGES = /^\/(?:console|setup)(?:\/|$)/

/** Environment of the page that was opened last: links of pages without an environment lead to it. */
export const ENVIRONMENT_COOKIE = 'gatehouse_environment'

/** What decides the address of a page. */
interface Page {
  path: string
  right: Access
  hasEnvironments?: true | undefined
  isOutside?: true | undefined
}

type Area = 'tenant' | 'installation' | 'operator'

/** Where a page is shown, which decides where its links lead. */
export interface Place {
  area: Area
  /** Undefined for an operator without a tenant. */
  tenantId?: string | undefined
  environment: Environment
}

export type Addresses = ReturnType<typeof createAddresses>

/**
 * Addresses of pages. Those of a tenant begin with `/console/<tenant>`, and with
 * `/console/<tenant>/<live|test>` if they show one environment; those of the installation begin with
 * `/console/installation`. All pages with the same first step of their path share this prefix.
 */
export function createAddresses(pages: readonly Page[]) {
  const known = new Map<string, Page>()
  for (const page of pages) {
    const key = `${areaOf(page)} ${stepOf(page.path)}`
    const other = known.get(key) ?? page
    if (other.hasEnvironments !== page.hasEnvironments)
      throw new Error(`${page.path} needs hasEnvironments exactly if ${other.path} has it`)
    known.set(key, other)
  }

  /** Address, without the base path, of a path such as `/jobs/new` for links on a page at a place. */
  function addressAt({ area, tenantId, environment }: Place, path: string, query?: Query): string {
    const [nearest = 'operator'] = [area, ...AREAS].filter((one) =>
      known.has(`${one} ${stepOf(path)}`),
    )
    if (nearest === 'installation') return url(`${CONSOLE}/installation`, path, query)
    if (nearest === 'operator' || tenantId === undefined) return url(CONSOLE, path, query)
    const page = known.get(`tenant ${stepOf(path)}`)
    return url(prefixOf(tenantId, page?.hasEnvironments && environment), path, query)
  }

  return { addressAt }
}

const AREAS: readonly Area[] = ['tenant', 'installation', 'operator']

/** First step of a path: `jobs` of `/jobs/:id`. */
const stepOf = (path: string): string => path.split(/[/?]/)[1] ?? ''

export const isOfTenant = (page: Page): boolean => areaOf(page) === 'tenant'

const areaOf = ({ right }: Page): Area => {
  if (right === 'admin') return 'installation'
  return right === 'operator' || right === 'anyone' ? 'operator' : 'tenant'
}

const prefixOf = (tenant: string, environment?: string | false): string =>
  [CONSOLE, tenant, environment].filter(Boolean).join('/')

/** Route of a page. */
export function routeOf(page: Page): string {
  if (page.isOutside) return page.path
  const area = areaOf(page)
  if (area !== 'tenant')
    return `${CONSOLE}${area === 'operator' ? '' : '/installation'}${page.path}`
  return prefixOf(':tenant', page.hasEnvironments && ':environment') + page.path
}

/** Place of a page, from its address and, for pages of no tenant, from the operator's selection. */
export function placeOf(
  page: Page,
  request: Request,
  { params, operator }: { params: Record<string, string>; operator: Operator | undefined },
): Place {
  const area = areaOf(page)
  const isOfInstallation = area === 'operator' && operator?.scope?.kind === 'instance'
  return {
    area: isOfInstallation ? 'installation' : area,
    tenantId: area === 'tenant' ? params.tenant : operator && selectedTenantOf(operator),
    environment: page.hasEnvironments ? environmentIn(params) : preferredEnvironment(request),
  }
}

/** The tenant or installation that an operator selected, for addresses without one. */
export const selectedPlaceOf = (operator: Operator, request: Request): Place => ({
  area: operator.scope?.kind === 'instance' ? 'installation' : 'tenant',
  tenantId: selectedTenantOf(operator),
  environment: preferredEnvironment(request),
})

/** The selected tenant, or the first one of an admin who has selected the installation. */
const selectedTenantOf = ({ scope, memberships }: Operator): string | undefined =>
  scope?.kind === 'tenant' ? scope.tenantId : scope && memberships[0]?.tenantId

/** The environment in the address of a page. Throws `not_found` for any other word. */
export function environmentIn({ environment }: Record<string, string>): Environment {
  const named = ENVIRONMENTS.find((one) => one === environment)
  if (!named) throw notFound('page not found', { rule: 'unknown_route' })
  return named
}

/** Environment selected in the browser; live by default. */
export const preferredEnvironment = (request: Request): Environment =>
  preferenceIn(request, ENVIRONMENT_COOKIE) === 'test' ? 'test' : 'live'
