import { navigationOf, PAGES } from '../../../../views/layout/navigation.ts'
import { SearchPage, type SearchResult } from '../../../../views/layout/palette.tsx'
import { PageHead } from '../../../../views/ui/section.tsx'
import { type OperatorPageContext, page, usePage } from '../../page.tsx'
import { ID, searchTenant } from './tenant.ts'

/** Longest name that exists: an email address. */
const MAX_QUERY_LENGTH = 320
const MAX_PER_KIND = 5

interface Search {
  query: string
  results: readonly SearchResult[]
}

/** Searches a tenant by name or ID. Without a match, links to searches of larger lists. */
export const tenantSearchPage = page({
  path: '/find',
  right: 'read',
  title: 'Search',
  load(context): Search {
    return searched(context, 'tenant', (query) => {
      const objects = searchTenant(context, query)
      return objects.length > 0 || ID.test(query) ? objects : searchesFor(context, query)
    })
  },
  view: (search) => <Found {...search} />,
})

/** Searches tenants and operators by ID or by prefix. */
export const installationSearchPage = page({
  path: '/find',
  right: 'admin',
  title: 'Search',
  load: (context): Search =>
    searched(context, 'installation', (query) => tenantsAndOperators(context, query)),
  view: (search) => <Found {...search} />,
})

function Found({ query, results }: Search) {
  const { href } = usePage()
  return (
    <>
      <PageHead
        title="Search"
        state={{
          sentence: 'Finds pages and most objects by name, and every object by its full ID.',
        }}
      />
      <SearchPage action={href('/find')} query={query} results={results} />
    </>
  )
}

function searched(
  context: OperatorPageContext,
  scope: 'tenant' | 'installation',
  find: (query: string) => SearchResult[],
): Search {
  const { q: query = '' } = context.query
  if (query === '' || query.length > MAX_QUERY_LENGTH) return { query, results: [] }
  const pages = navigationOf(scope)
    .flatMap((group) => group.pages)
    .map((key) => PAGES[key])
    .filter(({ label }) => label.toLowerCase().includes(query.toLowerCase()))
    .map(({ label, path }) => ({ kind: 'Page', name: label, href: context.href(path) }))
  return { query, results: [...pages, ...find(query)] }
}

function tenantsAndOperators(
  { tenants, gateOperators, href }: OperatorPageContext,
  search: string,
): SearchResult[] {
  const limit = MAX_PER_KIND
  const known = ID.test(search) && gateOperators.operatorList.find(search.toLowerCase())
  const operators = known ? [known] : gateOperators.operatorList.page({ search, limit }).data
  return [
    ...tenants
      .page({ search, limit })
      .data.map(({ id, name }) => ({ kind: 'Tenant', name, id, href: href(`/tenants/${id}`) })),
    ...operators.map(({ id, email }) => ({
      kind: 'Operator',
      name: email,
      id,
      href: href(`/operators/${id}`),
    })),
  ]
}

const searchesFor = ({ href }: OperatorPageContext, query: string): SearchResult[] => [
  { kind: 'Search', name: `Jobs: ${query}`, href: href('/jobs', { q: query }) },
  { kind: 'Search', name: `Users: ${query}`, href: href('/identities', { q: query }) },
]
