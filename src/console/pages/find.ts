import { Elysia } from 'elysia'
import { navigationOf, PAGES } from '../../../views/console/layout/navigation.ts'
import { FindPage, type Found } from '../../../views/console/layout/palette.tsx'
import { PageHead } from '../../../views/console/page-head.tsx'
import { url } from '../../../views/console/url.ts'
import type { GateOperators } from '../../engines/gate/operators/index.ts'
import type { Tenants } from '../../platform/tenants.ts'
import type { Layout } from '../layout.ts'
import type { ConsoleMiddleware, OperatorContext } from '../middleware.ts'
import { createThings, type FindParts, ID } from './find-things.ts'

/** Longest name that exists: an email address. */
const MAX_QUERY_LENGTH = 320
const MAX_PER_KIND = 5

/**
 * Search for pages and objects by name or ID, in the current tenant or the installation. Without a match
 * it links to the search of the larger lists.
 */
export function findPages(
  parts: Omit<FindParts, 'base'> & {
    middleware: ConsoleMiddleware
    layout: Layout
    tenants: Pick<Tenants, 'page'>
    gateOperators: Pick<GateOperators, 'operatorList'>
  },
) {
  const { middleware, layout, tenants, gateOperators } = parts
  const { thingsCalled } = createThings({ ...parts, base: layout.base })

  const href = (path: string, query?: Record<string, string>) => url(layout.base(), path, query)

  function find(context: Context): Response {
    const { request, operator } = context
    const query = new URL(request.url).searchParams.get('q')?.trim() ?? ''
    const title = 'Search'
    const head = PageHead({
      title,
      state: {
        sentence: 'Finds pages and most objects by name, and every object by its full ID.',
      },
    })
    const children = [
      head,
      FindPage({ base: layout.base(), query, found: query === '' ? [] : foundBy(context, query) }),
    ]
    return layout.page({ request, operator, title, children })
  }

  function foundBy(context: Context, query: string): Found[] {
    const { scope } = context.operator
    if (!scope || query.length > MAX_QUERY_LENGTH) return []
    if (scope.kind === 'instance') return [...pagesCalled('installation', query), ...runBy(query)]
    const things = thingsCalled({ ...context, tenant: scope }, query)
    return [...pagesCalled('tenant', query), ...things, ...searchesFor(query, things)]
  }

  function pagesCalled(scope: 'tenant' | 'installation', query: string): Found[] {
    const name = query.toLowerCase()
    return navigationOf(scope)
      .flatMap(({ pages }) => pages)
      .map((key) => PAGES[key])
      .filter(({ label }) => label.toLowerCase().includes(name))
      .map(({ label, path }) => ({ kind: 'Page', name: label, href: href(path) }))
  }

  /** Tenants and operators, by ID or by prefix. */
  function runBy(search: string): Found[] {
    const known = ID.test(search)
      ? gateOperators.operatorList.find(search.toLowerCase())
      : undefined
    const operators = known
      ? [known]
      : gateOperators.operatorList.page({ search, limit: MAX_PER_KIND })
    return [
      ...tenants.page({ search, limit: MAX_PER_KIND }).map(({ id, name }) => ({
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
  function searchesFor(query: string, found: readonly Found[]): Found[] {
    if (found.length > 0 || ID.test(query)) return []
    return [
      { kind: 'Search', name: `Jobs: ${query}`, href: href('/console/jobs', { q: query }) },
      {
        kind: 'Search',
        name: `Users: ${query}`,
        href: href('/console/identities', { q: query }),
      },
    ]
  }

  return new Elysia({ name: 'find pages', detail: { hide: true } })
    .use(middleware)
    .get('/console/find', (context) => find(context), { operator: true })
}

type Context = OperatorContext & { request: Request }
