import type { SearchResult } from '../../../views/console/layout/palette.tsx'
import { url } from '../../../views/console/url.ts'
import type { Clockwork } from '../../engines/clockwork/index.ts'
import type { Gate } from '../../engines/gate/index.ts'
import type { Passepartout } from '../../engines/passepartout/index.ts'
import type { Relay } from '../../engines/relay/index.ts'
import { ENVIRONMENTS, type Environment } from '../../platform/engines.ts'
import { AppError, type ErrorKind } from '../../platform/errors.ts'
import type { Keys } from '../../platform/keys.ts'
import type { CallerOf } from '../callers.ts'
import type { TenantContext } from '../middleware.ts'
import type { Operators } from '../operators/index.ts'
import { may } from '../operators/rights.ts'
import { environmentOf } from '../scope.ts'

/** Shorter queries would match too much. */
const MIN_NAME = 3
const MAX_PER_KIND = 5
/** Most rows that are searched in lists without an index by name. */
const MAX_SCANNED = 200

export interface SearchParts {
  base: () => string
  keys: Pick<Keys, 'newest' | 'find'>
  gate: Pick<Gate, 'identities' | 'webhooks'>
  clockwork: Pick<Clockwork, 'jobs' | 'delayed' | 'queries'>
  passepartout: Pick<Passepartout, 'records'>
  relay: Pick<Relay, 'endpoints' | 'endpointSummaries' | 'messages' | 'deliveries' | 'eventTypes'>
  operators: Pick<Operators, 'memberships'>
  callerOf: CallerOf
}

type Context = TenantContext & { request: Request }

/** Finds objects of a tenant by full ID or by name. */
export function createTenantSearch(parts: SearchParts) {
  const { keys, gate, clockwork, passepartout, relay, operators, callerOf } = parts

  const resultOf =
    (kind: string, path: string) =>
    ({
      id,
      name,
      environment,
    }: {
      id: string
      name: string
      environment?: Environment
    }): SearchResult => ({
      kind,
      name,
      id,
      href: url(parts.base(), `/console/${path}/${encodeURIComponent(id)}`),
      ...(environment && { environment }),
    })

  const search = (context: Context, query: string): SearchResult[] =>
    ID.test(query) ? byId(context, query.toLowerCase()) : byName(context, query)

  /** One query per kind of object. */
  function byId(context: Context, id: string): SearchResult[] {
    const { tenantId, role } = context.tenant
    const { records } = passepartout
    const candidates: [kind: string, path: string, nameOf: () => string | undefined][] = [
      ['API key', 'keys', () => (may(role, 'keys') ? keys.find(tenantId, id).hint : undefined)],
      ['Job', 'jobs', () => clockwork.jobs.get(tenantId, id).name],
      ['Delayed job', 'delayed', () => clockwork.delayed.get(tenantId, id).name],
      [
        'User',
        'identities',
        () => gate.identities.get(callerOf(context, 'gate', 'live'), id).traits.email,
      ],
      ['User webhook', 'webhooks', () => webhooksOf(context).find((one) => one.id === id)?.url],
      ['Login', 'logins', () => records.get(tenantId, id).client_label ?? 'Login'],
      ['Messenger user', 'logins/users', () => records.person(tenantId, id).first_name],
      [
        'Member',
        'team',
        () => operators.memberships.list(tenantId).find((one) => one.id === id)?.email,
      ],
    ]
    const found = candidates.flatMap(([kind, path, nameOf]) => {
      const name = ifAny(nameOf)
      return name === undefined ? [] : [resultOf(kind, path)({ id, name })]
    })
    return [...found, ...inBothEnvironments(context, id)]
  }

  /** Objects of relay in both environments. Those of the other environment are marked. */
  function inBothEnvironments(context: Context, id: string): SearchResult[] {
    const current = environmentOf(context.request)
    return ENVIRONMENTS.flatMap((environment) => {
      const caller = callerOf(context, 'relay', environment)
      const candidates: [kind: string, path: string, nameOf: () => string][] = [
        ['Endpoint', 'endpoints', () => relay.endpoints.get(caller, id).url],
        ['Message', 'messages', () => relay.messages.get(caller, id).detail.event_type],
        ['Delivery', 'deliveries', () => relay.deliveries.get(caller, id).event_type],
      ]
      return candidates.flatMap(([kind, path, nameOf]) => {
        const name = ifAny(nameOf)
        const scope = environment === current ? {} : { environment }
        return name === undefined ? [] : [resultOf(kind, path)({ id, name, ...scope })]
      })
    })
  }

  function byName(context: Context, query: string): SearchResult[] {
    if (query.length < MIN_NAME) return []
    const text = query.toLowerCase()
    const matches = (name: string) => name.toLowerCase().includes(text)
    return [
      ...matchingKeys(context, query),
      ...matchingUsers(context, query),
      ...matchingMembers(context, matches),
      ...matchingJobs(context, query, matches),
      ...webhooksOf(context)
        .filter((one) => matches(one.url))
        .slice(0, MAX_PER_KIND)
        .map(({ id, url: name }) => resultOf('User webhook', 'webhooks')({ id, name })),
      ...matchingRelayObjects(context, query, matches),
    ]
  }

  function matchingKeys({ tenant }: Context, query: string): SearchResult[] {
    if (!may(tenant.role, 'keys')) return []
    return keys
      .newest(tenant.tenantId, MAX_SCANNED)
      .filter(({ hint }) => hint.includes(query))
      .slice(0, MAX_PER_KIND)
      .map(({ id, hint }) => resultOf('API key', 'keys')({ id, name: hint }))
  }

  /** Users whose email address starts with the query. */
  function matchingUsers(context: Context, query: string): SearchResult[] {
    const caller = callerOf(context, 'gate', 'live')
    const filter = { search: query, limit: MAX_PER_KIND }
    return (ifAny(() => gate.identities.list(caller, filter))?.data ?? []).map(({ id, traits }) =>
      resultOf('User', 'identities')({ id, name: traits.email }),
    )
  }

  const matchingMembers = (
    { tenant }: Context,
    matches: (name: string) => boolean,
  ): SearchResult[] =>
    operators.memberships
      .list(tenant.tenantId)
      .filter(({ email, traits }) => matches(email) || matches(displayNameIn(traits)))
      .slice(0, MAX_PER_KIND)
      .map(({ id, email }) => resultOf('Member', 'team')({ id, name: email }))

  function matchingJobs(
    { tenant }: Context,
    q: string,
    matches: (name: string) => boolean,
  ): SearchResult[] {
    const jobs = clockwork.queries
      .jobs(tenant.tenantId, { limit: MAX_SCANNED })
      .filter(({ name }) => matches(name))
      .slice(0, MAX_PER_KIND)
    const delayed = clockwork.queries.delayed(tenant.tenantId, { q, limit: MAX_PER_KIND })
    return [
      ...jobs.map(resultOf('Job', 'jobs')),
      ...delayed.map(({ id, name }) => resultOf('Delayed job', 'delayed')({ id, name })),
    ]
  }

  function matchingRelayObjects(
    context: Context,
    query: string,
    matches: (name: string) => boolean,
  ): SearchResult[] {
    const caller = callerOf(context, 'relay', environmentOf(context.request))
    const type = ifAny(() => relay.eventTypes.get(caller, query))
    return [
      ...relay.endpointSummaries
        .all(caller)
        .filter((one) => matches(one.url))
        .slice(0, MAX_PER_KIND)
        .map(({ id, url: name }) => resultOf('Endpoint', 'endpoints')({ id, name })),
      ...(type ? [resultOf('Event type', 'event-types')({ id: query, name: query })] : []),
    ]
  }

  const webhooksOf = (context: Context) =>
    gate.webhooks.list(callerOf(context, 'gate', 'live')).webhooks

  return { search }
}

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
