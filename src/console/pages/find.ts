import { Elysia } from 'elysia'
import { navigationOf, PAGES } from '../../../views/console/frame/navigation.ts'
import { FindPage, type Found } from '../../../views/console/frame/palette.tsx'
import { PageHead } from '../../../views/console/page-head.tsx'
import { url } from '../../../views/console/url.ts'
import type { Clockwork } from '../../engines/clockwork/index.ts'
import type { Gate } from '../../engines/gate/index.ts'
import type { Passepartout } from '../../engines/passepartout/index.ts'
import type { Relay } from '../../engines/relay/index.ts'
import { AppError, type ErrorKind } from '../../platform/errors.ts'
import type { Keys } from '../../platform/keys.ts'
import type { CallerOf } from '../callers.ts'
import { environmentOf, type Frames } from '../frame.ts'
import type { ConsoleKit, OperatorVisit, TenantVisit } from '../kit.ts'
import { may } from '../operators/rights.ts'

/** Beyond it nothing has such a name: addresses of people are the longest. */
const LONGEST_QUERY = 320
/** What is asked for in fewer characters is too many keys to be of use. */
const SHORTEST_HINT = 4
const MOST_KEYS = 5

/**
 * Jumps to pages by their name, and to whatever has an id; of the tenant in which the visitor acts
 * and nothing else. What lists can search by name, it hands on to.
 */
export function findPages(parts: {
  kit: ConsoleKit
  frames: Frames
  keys: Pick<Keys, 'list'>
  gate: Pick<Gate, 'identities'>
  clockwork: Pick<Clockwork, 'jobs' | 'delayed'>
  passepartout: Pick<Passepartout, 'records'>
  relay: Pick<Relay, 'endpoints' | 'messages' | 'deliveries'>
  callerOf: CallerOf
}) {
  const { kit, frames, keys, gate, clockwork, passepartout, relay, callerOf } = parts

  const href = (path: string, query?: Record<string, string>) => url(frames.base(), path, query)

  function find(visit: OperatorVisit & { request: Request }): Response {
    const { request, visitor } = visit
    const query = new URL(request.url).searchParams.get('q')?.trim() ?? ''
    const title = 'Search'
    const head = PageHead({
      title,
      state: { sentence: 'Finds pages by name, and anything by its whole id.' },
    })
    const children = [
      head,
      FindPage({ base: frames.base(), query, found: query === '' ? [] : foundBy(visit, query) }),
    ]
    return frames.page({ request, visitor, title, children })
  }

  function foundBy(visit: OperatorVisit & { request: Request }, query: string): Found[] {
    const { place } = visit.visitor
    if (!place || query.length > LONGEST_QUERY) return []
    if (place.kind === 'instance') return pagesCalled('installation', query)
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

  function thingsCalled(visit: TenantVisit & { request: Request }, query: string): Found[] {
    if (ID.test(query)) return [...keysCalled(visit, query), ...thingsWithId(visit, query)]
    return [...keysCalled(visit, query), ...peopleAt(visit, query)]
  }

  function keysCalled({ tenant }: TenantVisit, query: string): Found[] {
    if (!may(tenant.role, 'keys') || query.length < SHORTEST_HINT) return []
    return keys
      .list(tenant.tenantId)
      .filter(({ id, hint }) => id === query || hint.includes(query))
      .slice(0, MOST_KEYS)
      .map(({ id, hint }) => ({ kind: 'Key', name: hint, id, href: href(`/console/keys/${id}`) }))
  }

  function peopleAt(visit: TenantVisit, query: string): Found[] {
    if (!query.includes('@')) return []
    const caller = callerOf(visit, 'gate', 'live')
    const listed = ifAny(() => gate.identities.list(caller, { email: query, limit: 1 }))
    return (listed?.data ?? []).map(({ id }) => ({
      kind: 'Identity',
      name: query,
      id,
      href: href(`/console/identities/${id}`),
    }))
  }

  function thingsWithId(visit: TenantVisit & { request: Request }, id: string): Found[] {
    const { tenantId } = visit.tenant
    const sender = callerOf(visit, 'relay', environmentOf(visit.request))
    const looks: [kind: string, path: string, nameOf: () => string][] = [
      ['Job', 'jobs', () => clockwork.jobs.get(tenantId, id).name],
      ['Delayed job', 'delayed', () => clockwork.delayed.get(tenantId, id).name],
      ['Identity', 'identities', () => emailOf(visit, id)],
      ['Sign-in', 'logins', () => passepartout.records.get(tenantId, id).client_label ?? 'Sign-in'],
      ['User', 'logins/users', () => passepartout.records.person(tenantId, id).first_name],
      ['Endpoint', 'endpoints', () => relay.endpoints.get(sender, id).url],
      ['Message', 'messages', () => relay.messages.get(sender, id).detail.event_type],
      ['Delivery', 'deliveries', () => relay.deliveries.get(sender, id).event_type],
    ]
    return looks.flatMap(([kind, path, nameOf]) => {
      const name = ifAny(nameOf)
      return name === undefined ? [] : [{ kind, name, id, href: href(`/console/${path}/${id}`) }]
    })
  }

  function emailOf(visit: TenantVisit, id: string): string {
    const { traits } = gate.identities.get(callerOf(visit, 'gate', 'live'), id)
    return traits.email
  }

  /** Where nothing was found, the lists that know names may know more. */
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

const ID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i

/** It is not there, or what was asked for is nothing that it could be called. */
const NOT_FOUND: ReadonlySet<ErrorKind> = new Set<ErrorKind>(['not_found', 'invalid'])

function ifAny<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof AppError && NOT_FOUND.has(error.kind)) return undefined
    throw error
  }
}
