import { Elysia } from 'elysia'
import { navigationOf, PAGES } from '../../../views/console/frame/navigation.ts'
import { FindPage, type Found } from '../../../views/console/frame/palette.tsx'
import { PageHead } from '../../../views/console/page-head.tsx'
import { url } from '../../../views/console/url.ts'
import type { House } from '../../engines/gate/house/index.ts'
import type { Tenants } from '../../platform/tenants.ts'
import type { Frames } from '../frame.ts'
import type { ConsoleKit, OperatorVisit } from '../kit.ts'
import { createThings, type FindParts, ID } from './find-things.ts'

/** Beyond it nothing has such a name: addresses of people are the longest. */
const LONGEST_QUERY = 320
const MOST_OF_A_KIND = 5

/**
 * Jumps to pages by their name, and to whatever has an id or a name; of the place in which the
 * visitor acts and nothing else. What lists can search through, it hands on to.
 */
export function findPages(
  parts: Omit<FindParts, 'base'> & {
    kit: ConsoleKit
    frames: Frames
    tenants: Pick<Tenants, 'page'>
    house: Pick<House, 'roster'>
  },
) {
  const { kit, frames, tenants, house } = parts
  const { thingsCalled } = createThings({ ...parts, base: frames.base })

  const href = (path: string, query?: Record<string, string>) => url(frames.base(), path, query)

  function find(visit: Visit): Response {
    const { request, visitor } = visit
    const query = new URL(request.url).searchParams.get('q')?.trim() ?? ''
    const title = 'Search'
    const head = PageHead({
      title,
      state: {
        sentence:
          'Finds pages by name, things by their whole id, and most by what they are called.',
      },
    })
    const children = [
      head,
      FindPage({ base: frames.base(), query, found: query === '' ? [] : foundBy(visit, query) }),
    ]
    return frames.page({ request, visitor, title, children })
  }

  function foundBy(visit: Visit, query: string): Found[] {
    const { place } = visit.visitor
    if (!place || query.length > LONGEST_QUERY) return []
    if (place.kind === 'instance') return [...pagesCalled('installation', query), ...runBy(query)]
    const things = thingsCalled({ ...visit, tenant: place }, query)
    return [...pagesCalled('tenant', query), ...things, ...searchesFor(query, things)]
  }

  function pagesCalled(place: 'tenant' | 'installation', query: string): Found[] {
    const name = query.toLowerCase()
    return navigationOf(place)
      .flatMap(({ pages }) => pages)
      .map((key) => PAGES[key])
      .filter(({ label }) => label.toLowerCase().includes(name))
      .map(({ label, path }) => ({ kind: 'Page', name: label, href: href(path) }))
  }

  /** Tenants and operators, by id or by how they begin. */
  function runBy(search: string): Found[] {
    const known = ID.test(search) ? house.roster.find(search.toLowerCase()) : undefined
    const operators = known ? [known] : house.roster.page({ search, limit: MOST_OF_A_KIND })
    return [
      ...tenants.page({ search, limit: MOST_OF_A_KIND }).map(({ id, name }) => ({
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

  /** Where nothing was found, the lists that look further may know more. */
  function searchesFor(query: string, found: readonly Found[]): Found[] {
    if (found.length > 0 || ID.test(query)) return []
    return [
      { kind: 'Search', name: `Jobs: ${query}`, href: href('/console/jobs', { q: query }) },
      {
        kind: 'Search',
        name: `Identities: ${query}`,
        href: href('/console/identities', { q: query }),
      },
    ]
  }

  return new Elysia({ name: 'find pages', detail: { hide: true } })
    .use(kit)
    .get('/console/find', (visit) => find(visit), { operator: true })
}

type Visit = OperatorVisit & { request: Request }
