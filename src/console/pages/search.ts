import { Elysia } from 'elysia'
import { navigationOf, PAGES } from '../../../views/console/layout/navigation.ts'
import { SearchPage, type SearchResult } from '../../../views/console/layout/palette.tsx'
import { PageHead } from '../../../views/console/page-head.tsx'
import { url } from '../../../views/console/url.ts'
import type { GateOperators } from '../../engines/gate/operators/index.ts'
import type { Tenants } from '../../platform/tenants.ts'
import type { Layout } from '../layout.ts'
import type { ConsoleMiddleware, OperatorContext } from '../middleware.ts'
import { createTenantSearch, ID, type SearchParts } from './tenant-search.ts'

/** Longest name that exists: an email address. */
const MAX_QUERY_LENGTH = 320
const MAX_PER_KIND = 5

/** Searches the current scope by name or ID. Without a match, links to searches of larger lists. */
export function searchPages(
  parts: Omit<SearchParts, 'base'> & {
    middleware: ConsoleMiddleware
    layout: Layout
    tenants: Pick<Tenants, 'page'>
    gateOperators: Pick<GateOperators, 'operatorList'>
  },
) {
  const { middleware, layout, tenants, gateOperators } = parts
  const { search } = createTenantSearch({ ...parts, base: layout.base })

  const href = (path: string, query?: Record<string, string>) => url(layout.base(), path, query)

  function show(context: Context): Response {
    const { request, operator } = context
    const query = new URL(request.url).searchParams.get('q')?.trim() ?? ''
    const title = 'Search'
    const head = PageHead({
      title,
      state: { sentence: 'Finds pages and most objects by name, and every object by its full ID.' },
    })
    const children = [
      head,
      SearchPage({
        base: layout.base(),
        query,
        results: query === '' ? [] : resultsFor(context, query),
      }),
    ]
    return layout.page({ request, operator, title, children })
  }

  function resultsFor(context: Context, query: string): SearchResult[] {
    const { scope } = context.operator
    if (!scope || query.length > MAX_QUERY_LENGTH) return []
    if (scope.kind === 'instance')
      return [...matchingPages('installation', query), ...tenantsAndOperators(query)]
    const objects = search({ ...context, tenant: scope }, query)
    return [...matchingPages('tenant', query), ...objects, ...searchesFor(query, objects)]
  }

  function matchingPages(scope: 'tenant' | 'installation', query: string): SearchResult[] {
    const name = query.toLowerCase()
    return navigationOf(scope)
      .flatMap(({ pages }) => pages)
      .map((key) => PAGES[key])
      .filter(({ label }) => label.toLowerCase().includes(name))
      .map(({ label, path }) => ({ kind: 'Page', name: label, href: href(path) }))
  }

  /** Tenants and operators, by ID or by prefix. */
  function tenantsAndOperators(search: string): SearchResult[] {
    const known = ID.test(search)
      ? gateOperators.operatorList.find(search.toLowerCase())
      : undefined
    const operators = known
      ? [known]
      : gateOperators.operatorList.page({ search, limit: MAX_PER_KIND })
    return [
      ...tenants
        .page({ search, limit: MAX_PER_KIND })
        .map(({ id, name }) => ({
          kind: 'Tenant',
          name,
          id,
          href: href(`/console/admin/tenants/${id}`),
        })),
      ...operators.map(({ id, email }) => ({
        kind: 'Operator',
        name: email,
        id,
        href: href(`/console/admin/operators/${id}`),
      })),
    ]
  }

  /** Without a match, links to lists with a full search. */
  function searchesFor(query: string, results: readonly SearchResult[]): SearchResult[] {
    if (results.length > 0 || ID.test(query)) return []
    return [
      { kind: 'Search', name: `Jobs: ${query}`, href: href('/console/jobs', { q: query }) },
      { kind: 'Search', name: `Users: ${query}`, href: href('/console/identities', { q: query }) },
    ]
  }

  return new Elysia({ name: 'find pages', detail: { hide: true } })
    .use(middleware)
    .get('/console/find', (context) => show(context), { operator: true })
}

type Context = OperatorContext & { request: Request }
