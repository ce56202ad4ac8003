import type { SearchResult } from '../../../../views/layout/palette.tsx'
import { ENVIRONMENTS, type Environment } from '../../../platform/engines.ts'
import { AppError, type ErrorKind } from '../../../platform/errors.ts'
import type { PageContext } from '../../page.tsx'

/** Shorter queries would match too much. */
const MIN_NAME = 3
const MAX_PER_KIND = 5
/** Most rows that are searched in lists without an index by name. */
const MAX_SCANNED = 200

/** An object that was found. */
interface Found {
  id: string
  name: string
}

/** Finds objects of a tenant by full ID or by name. */
export const searchTenant = (context: PageContext, query: string): SearchResult[] =>
  ID.test(query) ? byId(context, query.toLowerCase()) : byName(context, query)

/** Results of a kind, whose pages are below a path. */
const results = ({ href }: PageContext, kind: string, path: string, found: readonly Found[]) =>
  found
    .slice(0, MAX_PER_KIND)
    .map(({ id, name }) => ({ kind, id, name, href: href(`${path}/${encodeURIComponent(id)}`) }))

/** Results of a kind that each environment has of its own. */
const resultsIn = (
  { hrefIn }: PageContext,
  environment: Environment,
  kind: string,
  path: string,
  found: readonly Found[],
) =>
  found.slice(0, MAX_PER_KIND).map(({ id, name }) => {
    const href = hrefIn(environment, `${path}/${encodeURIComponent(id)}`)
    return { kind, id, name, href, environment }
  })

/** One query per kind of object. */
function byId(context: PageContext, id: string): SearchResult[] {
  const { tenantId, may, keys, clockwork, gate, operators, passepartout, relay, caller } = context
  const { queries } = passepartout
  const of = (kind: string, path: string, nameOf: () => string | undefined) =>
    results(context, kind, path, named(id, nameOf))
  return [
    ...of('API key', '/keys', () => (may('keys') ? keys.find(tenantId, id).hint : undefined)),
    ...of('Job', '/jobs', () => clockwork.jobs.get(tenantId, id).name),
    ...of('Delayed job', '/delayed', () => clockwork.delayed.get(tenantId, id).name),
    ...of('Monitor', '/monitors', () => clockwork.monitors.get(caller('clockwork'), id).name),
    ...of(
      'User',
      '/identities',
      () => gate.identities.get(caller('gate', 'live'), id).traits.email,
    ),
    ...of('User webhook', '/webhooks', () => webhooksOf(context).find((one) => one.id === id)?.url),
    ...of(
      'Member',
      '/team',
      () => operators.memberships.list(tenantId).find((one) => one.id === id)?.email,
    ),
    ...ENVIRONMENTS.flatMap((environment) => {
      const inEnvironment = (kind: string, path: string, nameOf: () => string | undefined) =>
        resultsIn(context, environment, kind, path, named(id, nameOf))
      const owner = { tenantId, environment }
      const relayCaller = caller('relay', environment)
      return [
        ...inEnvironment('Login', '/logins', () => queries.get(owner, id).client_label ?? 'Login'),
        ...inEnvironment(
          'Messenger user',
          '/logins/users',
          () => queries.person(owner, id).first_name,
        ),
        ...inEnvironment('Endpoint', '/endpoints', () => relay.endpoints.get(relayCaller, id).url),
        ...inEnvironment(
          'Message',
          '/messages',
          () => relay.messages.get(relayCaller, id).detail.event_type,
        ),
        ...inEnvironment(
          'Delivery',
          '/deliveries',
          () => relay.deliveries.get(relayCaller, id).event_type,
        ),
      ]
    }),
  ]
}

function named(id: string, nameOf: () => string | undefined): Found[] {
  const name = ifAny(nameOf)
  return name === undefined ? [] : [{ id, name }]
}

function byName(context: PageContext, query: string): SearchResult[] {
  if (query.length < MIN_NAME) return []
  const { tenantId, clockwork } = context
  const text = query.toLowerCase()
  const matches = (name: string) => name.toLowerCase().includes(text)
  const search = { q: query, limit: MAX_PER_KIND }
  const monitors = clockwork.queries.monitors.list(tenantId).filter(({ name }) => matches(name))
  const webhooks = webhooksOf(context).filter((one) => matches(one.url))
  return [
    ...results(context, 'API key', '/keys', matchingKeys(context, query)),
    ...results(context, 'User', '/identities', matchingUsers(context, query)),
    ...results(context, 'Member', '/team', matchingMembers(context, matches)),
    ...results(context, 'Job', '/jobs', clockwork.queries.jobs(tenantId, search).data),
    ...results(
      context,
      'Delayed job',
      '/delayed',
      clockwork.queries.delayed(tenantId, search).data,
    ),
    ...results(context, 'Monitor', '/monitors', monitors),
    ...results(context, 'User webhook', '/webhooks', webhooks.map(byUrl)),
    ...ENVIRONMENTS.flatMap((environment) => matchingIn(context, environment, query, matches)),
  ]
}

function matchingKeys({ keys, tenantId, may }: PageContext, query: string): Found[] {
  if (!may('keys')) return []
  return keys
    .newest(tenantId, MAX_SCANNED)
    .filter(({ hint }) => hint.includes(query))
    .map(({ id, hint }) => ({ id, name: hint }))
}

/** Users whose email address starts with the query. */
function matchingUsers({ gate, caller }: PageContext, query: string): Found[] {
  const filter = { search: query, limit: MAX_PER_KIND }
  const users = ifAny(() => gate.identities.list(caller('gate', 'live'), filter))?.data ?? []
  return users.map(({ id, traits }) => ({ id, name: traits.email }))
}

const matchingMembers = (
  { operators, tenantId }: PageContext,
  matches: (name: string) => boolean,
): Found[] =>
  operators.memberships
    .list(tenantId)
    .filter(({ email, traits }) => matches(email) || matches(displayNameIn(traits)))
    .map(({ id, email }) => ({ id, name: email }))

function matchingIn(
  context: PageContext,
  environment: Environment,
  query: string,
  matches: (name: string) => boolean,
): SearchResult[] {
  const { relay, caller } = context
  const by = caller('relay', environment)
  const endpoints = relay.queries.all(by).filter((one) => matches(one.url))
  const type = ifAny(() => relay.eventTypes.get(by, query))
  const types = type ? [{ id: query, name: query }] : []
  return [
    ...resultsIn(context, environment, 'Endpoint', '/endpoints', endpoints.map(byUrl)),
    ...resultsIn(context, environment, 'Event type', '/event-types', types),
  ]
}

const byUrl = ({ id, url: name }: { id: string; url: string }): Found => ({ id, name })

const webhooksOf = ({ gate, caller }: PageContext) =>
  gate.webhooks.list(caller('gate', 'live')).webhooks

/** A UUID. */
export const ID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/i

const displayNameIn = (traits: string): string =>
  (JSON.parse(traits) as { display_name?: string }).display_name ?? ''

/** Errors that mean "not found": missing, of another tenant, or not a valid name. */
const NOT_FOUND: ReadonlySet<ErrorKind> = new Set<ErrorKind>(['not_found', 'forbidden', 'invalid'])

function ifAny<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof AppError && NOT_FOUND.has(error.kind)) return undefined
    throw error
  }
}
