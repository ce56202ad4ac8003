import { Elysia } from 'elysia'
import { EndpointsPage } from '../../../../views/console/pages/relay/endpoints.tsx'
import {
  ENDPOINT_STATES,
  ENDPOINT_TONES,
  stateOf,
} from '../../../../views/console/pages/relay/state.tsx'
import { type EndpointStats, hears } from '../../../engines/relay/endpoint-summaries.ts'
import type { RelayContext } from './context.ts'
import { endpointFlash } from './endpoint-flashes.ts'
import type { RelayParts } from './parts.ts'

const ON_A_PAGE = 25
/** Most event types in the filter. */
const MAX_CHOICES = 200

/** List of endpoints with their state. */
export function endpointListPage(parts: RelayParts) {
  const { middleware, layout, clock, baseUrl, contextOf } = parts
  const { endpointSummaries, eventTypes } = parts.relay

  /** Filters all endpoints of the tenant, whose number is limited, and shows one page. */
  function list({ request, operator, caller, query, position, mayChange }: RelayContext): Response {
    const all = endpointSummaries.all(caller)
    const state = ENDPOINT_STATES.find((one) => one === query.state)
    const filters = {
      search: query.q?.trim() ?? '',
      type: query.type || undefined,
      channel: query.channel || undefined,
    }
    const meant = all.filter(
      (endpoint) => hears(endpoint, filters) && matches(endpoint, filters.search),
    )
    const found = state
      ? meant.filter((endpoint) => stateOf(endpoint) === state)
      : issuesFirst(meant)
    const from = found.findIndex(({ id }) => id === position.cursor) + 1
    const rows = found.slice(from, from + ON_A_PAGE)
    return layout.page({
      request,
      operator,
      title: 'Endpoints',
      active: 'endpoints',
      flash: endpointFlash(query),
      hasEnvironments: true,
      children: EndpointsPage({
        base: layout.base(),
        apiUrl: baseUrl(),
        all,
        day: endpointSummaries.dayOfAll(caller, all.length),
        meant,
        found: found.length,
        rows: rows.map((endpoint) => ({
          endpoint,
          hours: endpointSummaries.dayOf(endpoint),
          waiting: hasNoBacklog(endpoint) ? undefined : endpointSummaries.waitingFor(endpoint),
        })),
        position,
        next: from + rows.length < found.length ? rows.at(-1)?.id : undefined,
        state,
        ...filters,
        types: eventTypes.names(caller, MAX_CHOICES),
        channels: channelsOf(all),
        mayChange,
        now: clock.now(),
      }),
    })
  }

  return new Elysia({ prefix: '/console/endpoints', detail: { hide: true } })
    .use(middleware)
    .get('', (context) => list(contextOf(context)), { right: 'read' })
}

const matches = ({ id, url, description }: EndpointStats, search: string): boolean => {
  const words = search.toLowerCase()
  return [id, url, description].some((text) => text.toLowerCase().includes(words))
}

/** Endpoints with problems come first. */
const issuesFirst = (endpoints: readonly EndpointStats[]): EndpointStats[] => {
  const hasIssue = (endpoint: EndpointStats) => ENDPOINT_TONES[stateOf(endpoint)] === 'bad'
  return [...endpoints.filter(hasIssue), ...endpoints.filter((endpoint) => !hasIssue(endpoint))]
}

/** Active endpoints without problems have no retries or held deliveries. */
const hasNoBacklog = (endpoint: EndpointStats): boolean =>
  stateOf(endpoint) === 'active' && endpoint.health.breaker === 'closed'

/** Channels that endpoints listen on. */
const channelsOf = (all: readonly EndpointStats[]): string[] =>
  [...new Set(all.flatMap(({ channels }) => channels))].toSorted().slice(0, MAX_CHOICES)
