import { Elysia } from 'elysia'
import type { FormError } from '../../../views/console/form/error-summary.tsx'
import { EndpointPage } from '../../../views/console/pages/relay/endpoint.tsx'
import {
  CreatedEndpointPage,
  EndpointForm,
  RotatedPage,
} from '../../../views/console/pages/relay/endpoint-form.tsx'
import { EndpointsPage } from '../../../views/console/pages/relay/endpoints.tsx'
import { ReplayPage } from '../../../views/console/pages/relay/replay.tsx'
import { ENDPOINT_STATES, stateOf } from '../../../views/console/pages/relay/state.tsx'
import type { Flash } from '../../../views/console/toast.tsx'
import type { Endpoint } from '../../engines/relay/model/endpoints.ts'
import type { Fields } from '../../http/body.ts'
import type { TestResult } from '../../http/delivery-log/model.ts'
import { isoTime } from '../../platform/clock.ts'
import { invalid } from '../../platform/errors.ts'
import type { Caller } from '../../platform/keys.ts'
import { errorAt, submitted, typed } from '../form.ts'
import { crumbTo } from '../frame.ts'
import type { RelayParts } from './relay.ts'
import { changeIn, fieldsOf, newEndpointIn, replayIn } from './relay-fields.ts'
import type { RelayVisit } from './relay-visit.ts'

const ON_A_PAGE = 25
/** As many as a tenant may have. */
const ALL = 1000
const RECENT = 10
const DAY_MS = 86_400_000

/** For how long, in seconds, the secret before signs beside the new one. */
const GRACES = new Map([
  ['none', 0],
  ['hour', 3600],
  ['day', 86_400],
  ['week', 604_800],
])

const FIELDS = {
  url: 'url',
  description: 'description',
  event_types: 'event_types',
  channels: 'channels',
  format: 'format',
  headers: 'headers',
  secret: 'secret',
}

/** Where events go: made, looked after, and why one of them does not answer. */
export function endpointPages(parts: RelayParts) {
  const { kit, frames, db, audit, clock, baseUrl, visited } = parts
  const { endpoints, deliveries } = parts.relay

  const beatsOf = (caller: Caller, { id }: Endpoint) => endpoints.stats(caller, id, {}).data

  /** What all of them do together fits in one look: there are never more than a tenant may have. */
  function list({ request, visitor, caller, query, mayChange }: RelayVisit): Response {
    const all = endpoints.list(caller, { limit: ALL }).data
    const state = ENDPOINT_STATES.find((one) => one === query.state)
    const search = query.q?.trim() ?? ''
    const found = all.filter(
      (endpoint) => (!state || stateOf(endpoint) === state) && isMeant(endpoint, search),
    )
    const from = found.findIndex(({ id }) => id === query.after) + 1
    const rows = found.slice(from, from + ON_A_PAGE)
    return frames.page({
      request,
      visitor,
      title: 'Endpoints',
      active: 'endpoints',
      flash: flashOf(query),
      hasEnvironments: true,
      children: EndpointsPage({
        base: frames.base(),
        apiUrl: baseUrl(),
        all,
        rows: rows.map((endpoint) => ({ endpoint, hours: beatsOf(caller, endpoint) })),
        found: found.length,
        isFirst: from === 0,
        last: from + rows.length < found.length ? rows.at(-1)?.id : undefined,
        state,
        search,
        mayChange,
        now: clock.now(),
      }),
    })
  }

  function form(
    { request, visitor }: RelayVisit,
    of: { endpoint?: Endpoint; typed?: Fields; errors?: readonly FormError[] } = {},
  ): Response {
    const { endpoint } = of
    return frames.page({
      request,
      visitor,
      title: endpoint ? 'Edit' : 'New endpoint',
      active: 'endpoints',
      above: [crumbTo(frames.base(), 'endpoints'), ...(endpoint ? [crumbOf(endpoint)] : [])],
      status: of.errors ? 422 : 200,
      hasEnvironments: true,
      children: EndpointForm({
        base: frames.base(),
        endpoint,
        typed: of.typed ?? (endpoint && fieldsOf(endpoint)),
        errors: of.errors,
        errorAt: (name) => errorAt(of.errors, name),
      }),
    })
  }

  const crumbOf = ({ id, url }: Endpoint) => ({
    label: url,
    href: `${frames.base()}/console/endpoints/${id}`,
  })

  async function create(visit: RelayVisit): Promise<Response> {
    const { request, visitor, caller, body } = visit
    const { value, errors } = await submitted(
      async () => endpoints.create(caller, newEndpointIn(body)),
      FIELDS,
    )
    if (!value) return form(visit, { typed: body, errors })
    return frames.page({
      request,
      visitor,
      title: 'New endpoint',
      active: 'endpoints',
      above: [crumbTo(frames.base(), 'endpoints')],
      hasEnvironments: true,
      children: CreatedEndpointPage({ base: frames.base(), endpoint: value }),
    })
  }

  const edit = (visit: RelayVisit): Response =>
    form(visit, { endpoint: endpoints.get(visit.caller, visit.id) })

  async function save(visit: RelayVisit): Promise<Response> {
    const { caller, id, body } = visit
    const endpoint = endpoints.get(caller, id)
    const { value, errors } = await submitted(
      async () => endpoints.update(caller, id, changeIn(body)),
      FIELDS,
    )
    return value ? gone(id, 'saved') : form(visit, { endpoint, typed: body, errors })
  }

  const gone = (id: string, done: string) => frames.go(`/console/endpoints/${id}?done=${done}`)

  /** `test` is the answer to an event that was sent from the page itself, and is kept nowhere. */
  function show(
    visit: RelayVisit,
    of: { test?: TestResult; typed?: Fields; errors?: readonly FormError[] } = {},
  ): Response {
    const { request, visitor, caller, id, query, mayChange, mayDelete } = visit
    const endpoint = endpoints.get(caller, id)
    return frames.page({
      request,
      visitor,
      title: endpoint.url,
      active: 'endpoints',
      above: [crumbTo(frames.base(), 'endpoints')],
      flash: flashOf(query),
      status: of.errors ? 422 : 200,
      hasEnvironments: true,
      children: EndpointPage({
        base: frames.base(),
        endpoint,
        hours: beatsOf(caller, endpoint),
        recent: deliveries.list(caller, { limit: RECENT, endpoint_id: id }).data,
        ...of,
        isTest: caller.environment === 'test',
        mayChange,
        mayDelete,
        now: clock.now(),
      }),
    })
  }

  async function test(visit: RelayVisit): Promise<Response> {
    const { caller, actor, tenant, id, body } = visit
    endpoints.get(caller, id)
    const { value, errors } = await submitted(
      async () => {
        const type = typed(body, 'event_type')
        const wanted = type === '' ? null : { event_type: type }
        const result = await endpoints.test(caller, id, wanted, undefined)
        const { tenantId } = tenant
        const object = `endpoint:${id}`
        await db.commit(() => audit.record({ tenantId, actor, action: 'endpoint.tested', object }))
        return result
      },
      { event_type: 'event_type' },
    )
    return value ? show(visit, { test: value, typed: body }) : show(visit, { typed: body, errors })
  }

  async function rotate({ request, visitor, caller, id, body }: RelayVisit): Promise<Response> {
    const endpoint = endpoints.get(caller, id)
    const grace = GRACES.get(typed(body, 'grace'))
    if (grace === undefined) throw invalid('grace: expected none, hour, day or week')
    const { secret, previous_expires_at: until } = await endpoints.rotate(caller, id, {
      grace_seconds: grace,
    })
    return frames.page({
      request,
      visitor,
      title: 'New secret',
      active: 'endpoints',
      above: [crumbTo(frames.base(), 'endpoints'), crumbOf(endpoint)],
      hasEnvironments: true,
      children: RotatedPage({ base: frames.base(), endpoint, secret, until, now: clock.now() }),
    })
  }

  async function pause({ caller, id }: RelayVisit): Promise<Response> {
    await endpoints.update(caller, id, { active: false })
    return gone(id, 'paused')
  }

  async function resume({ caller, id, body }: RelayVisit): Promise<Response> {
    const held = typed(body, 'held')
    if (held !== 'drain' && held !== 'discard') throw invalid('held: expected drain or discard')
    await endpoints.update(caller, id, { active: true, held })
    return gone(id, held === 'drain' ? 'resumed' : 'discarded')
  }

  async function remove({ caller, id }: RelayVisit): Promise<Response> {
    await endpoints.remove(caller, id)
    return frames.go('/console/endpoints?done=deleted')
  }

  /** Counts first: only who has seen how many there are is asked whether they are to be sent. */
  async function countReplay(visit: RelayVisit): Promise<Response> {
    const { caller, id, query } = visit
    if (query.since === undefined) return replayForm(visit, { typed: usualReplay(caller, id) })
    const { value, errors } = await submitted(
      async () => endpoints.replay(caller, id, { ...replayIn(query), dry_run: true }),
      REPLAY_FIELDS,
    )
    return replayForm(visit, { typed: query, ...(errors ? { errors } : { count: value.count }) })
  }

  async function replay(visit: RelayVisit): Promise<Response> {
    const { caller, id, body } = visit
    const { value, errors } = await submitted(
      async () => endpoints.replay(caller, id, replayIn(body)),
      REPLAY_FIELDS,
    )
    if (errors) return replayForm(visit, { typed: body, errors })
    return frames.go(`/console/endpoints/${id}?done=replayed&count=${value.count}`)
  }

  /** From when it began to fail, or the last day. */
  function usualReplay(caller: Caller, id: string): Fields {
    const { failing_since: since } = endpoints.get(caller, id).health
    return { since: since ?? isoTime(clock.now() - DAY_MS), which: 'undelivered' }
  }

  function replayForm(
    { request, visitor, caller, id }: RelayVisit,
    of: { typed: Fields; errors?: readonly FormError[]; count?: number },
  ): Response {
    const endpoint = endpoints.get(caller, id)
    return frames.page({
      request,
      visitor,
      title: 'Replay',
      active: 'endpoints',
      above: [crumbTo(frames.base(), 'endpoints'), crumbOf(endpoint)],
      status: of.errors ? 422 : 200,
      hasEnvironments: true,
      children: ReplayPage({
        base: frames.base(),
        endpoint,
        ...of,
        errorAt: (name) => errorAt(of.errors, name),
      }),
    })
  }

  return new Elysia({ prefix: '/console/endpoints', detail: { hide: true } })
    .use(kit)
    .get('', (visit) => list(visited(visit)), { right: 'read' })
    .get('/new', (visit) => form(visited(visit)), { right: 'change' })
    .post('', (visit) => create(visited(visit)), { right: 'change' })
    .get('/:id', (visit) => show(visited(visit)), { right: 'read' })
    .get('/:id/edit', (visit) => edit(visited(visit)), { right: 'change' })
    .post('/:id', (visit) => save(visited(visit)), { right: 'change' })
    .post('/:id/test', (visit) => test(visited(visit)), { right: 'change' })
    .post('/:id/rotate', (visit) => rotate(visited(visit)), { right: 'change' })
    .post('/:id/pause', (visit) => pause(visited(visit)), { right: 'change' })
    .post('/:id/resume', (visit) => resume(visited(visit)), { right: 'change' })
    .get('/:id/replay', (visit) => countReplay(visited(visit)), { right: 'change' })
    .post('/:id/replay', (visit) => replay(visited(visit)), { right: 'change' })
    .post('/:id/delete', (visit) => remove(visited(visit)), { right: 'delete' })
}

const REPLAY_FIELDS = {
  since: 'since',
  until: 'until',
  which: 'which',
  per_second: 'per_second',
}

const isMeant = ({ id, url, description }: Endpoint, search: string): boolean => {
  const words = search.toLowerCase()
  return [id, url, description].some((text) => text.toLowerCase().includes(words))
}

const FLASHES: Readonly<Record<string, Flash>> = {
  saved: { tone: 'good', text: 'Saved. The next attempt goes by it.' },
  paused: { tone: 'quiet', text: 'Paused. What comes for it is held.' },
  resumed: { tone: 'good', text: 'Resumed. What was held is sent now.' },
  discarded: { tone: 'good', text: 'Resumed. What was held is not sent.' },
  deleted: { tone: 'quiet', text: 'Deleted. Nothing is sent there any more.' },
}

function flashOf({ done = '', count = '' }: RelayVisit['query']): Flash | undefined {
  if (done === 'replayed' && /^\d{1,7}$/.test(count))
    return {
      tone: 'busy',
      text: `${count} ${count === '1' ? 'message is' : 'messages are'} being sent again.`,
    }
  return Object.hasOwn(FLASHES, done) ? FLASHES[done] : undefined
}
