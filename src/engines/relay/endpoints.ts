import type { Endpoint as EndpointRecord } from '../../delivery/endpoint-cache.ts'
import type { EndpointFields } from '../../delivery/endpoints.ts'
import { bodyOf } from '../../delivery/formats.ts'
import type { Delivery } from '../../delivery/index.ts'
import { checkEventType } from '../../delivery/matching.ts'
import type { Rotated, Rotation, TestResult } from '../../http/delivery-log/model.ts'
import { presentTest } from '../../http/delivery-log/present.ts'
import { rotateSecret } from '../../http/delivery-log/rotation.ts'
import type { Caller } from '../../platform/caller.ts'
import { type Clock, isoTime } from '../../platform/clock.ts'
import { createCursor, type Page, page } from '../../platform/cursor.ts'
import { DAY_MS } from '../../platform/durations.ts'
import { invalid } from '../../platform/errors.ts'
import type { Metering } from '../../platform/metering/index.ts'
import { parseTimestamp } from '../../platform/timestamp.ts'
import { builtInType } from './built-in-types.ts'
import type {
  CreatedEndpoint,
  Endpoint,
  EndpointChange,
  NewEndpoint,
  Replay,
  ReplayRequest,
  Stats,
  TestRequest,
} from './model/endpoints.ts'
import { presentEndpoint, presentStats } from './present.ts'
import type { Store } from './store/index.ts'
import { environmentOf, ownList, streamOf } from './stream.ts'

const REPLAYED_A_SECOND = 10
/** Error code for an invalid query. */
const IN_QUERY = 'invalid_request'

const TEST_TYPE = 'webhook.test'
const TEST_PAYLOAD = '{"message":"This is a test."}'

export type RelayEndpoints = ReturnType<typeof createRelayEndpoints>

const cursorsOf = (caller: Caller) => createCursor(ownList(caller, 'endpoints'))

/** The endpoints of one tenant and environment, as the API presents them. */
export function createRelayEndpoints(parts: {
  delivery: Delivery
  store: Store
  clock: Clock
  metering: Metering
}) {
  const { delivery, store, clock, metering } = parts
  const { endpoints } = delivery

  const present = (row: EndpointRecord): Endpoint => presentEndpoint(row, delivery.healthOf(row.id))

  const get = (caller: Caller, id: string): Endpoint => present(endpoints.get(streamOf(caller), id))

  /** Finds an endpoint that may have been deleted. */
  const ifAny = (caller: Caller, id: string): Endpoint | undefined =>
    endpoints.exists(streamOf(caller), id) ? get(caller, id) : undefined

  function list(
    caller: Caller,
    { limit, cursor }: { limit: number; cursor?: string | undefined },
  ): Page<Endpoint> {
    const before = cursorsOf(caller).positionOf(cursor)
    const rows = endpoints.list(streamOf(caller), { before, limit: limit + 1 })
    const listed = page(rows, limit, ({ seq }) => cursorsOf(caller).encode(seq))
    return { ...listed, data: listed.data.map(present) }
  }

  async function create(caller: Caller, input: NewEndpoint): Promise<CreatedEndpoint> {
    const { url, secret } = input
    const created = await endpoints.create(streamOf(caller), caller.actor, {
      ...fieldsOf(input),
      url,
      ...(secret !== undefined && { secret }),
    })
    return { ...present(created), secret: currentSecret(created) }
  }

  async function update(caller: Caller, id: string, input: EndpointChange): Promise<Endpoint> {
    const { held } = input
    if ('secret' in input)
      throw invalid('cannot be changed here. To replace it, use rotate-secret', {
        field: 'secret',
        rule: 'read_only',
      })
    if (held !== undefined && input.active !== true)
      throw invalid('must be sent together with active: true', { field: 'held', rule: 'mismatch' })
    const change = { ...fieldsOf(input), ...(held !== undefined && { held }) }
    return present(await endpoints.update(streamOf(caller), caller.actor, id, change))
  }

  /** When the previous secret stops signing; null if there is none. */
  function overlapEnd(caller: Caller, id: string): string | null {
    const { secrets } = endpoints.get(streamOf(caller), id)
    const ends = secrets.flatMap(({ expiresAt }) => expiresAt ?? [])
    const last = Math.max(0, ...ends)
    return last > clock.now() ? isoTime(last) : null
  }

  const remove = (caller: Caller, id: string): Promise<void> =>
    endpoints.remove(streamOf(caller), caller.actor, id)

  const rotate = (caller: Caller, id: string, input: Rotation | null): Promise<Rotated> =>
    rotateSecret(endpoints, streamOf(caller), caller, id, input)

  /** Sends the given payload, else an example or the last one seen of that type, else a generic one. */
  async function test(
    caller: Caller,
    id: string,
    input: TestRequest | null,
    payloadText: string | undefined,
  ): Promise<TestResult> {
    const type = input?.event_type ?? TEST_TYPE
    checkEventType(type, 'event_type')
    const payload = payloadText ?? sampleOf(caller, type) ?? TEST_PAYLOAD
    const endpoint = endpoints.open(streamOf(caller), id)
    metering.reserve(caller)
    const { sent, message } = await delivery.testEvent(endpoint, { type, payload })
    return presentTest(sent, bodyOf(endpoint.format, message))
  }

  function sampleOf(caller: Caller, name: string) {
    const environment = environmentOf(caller)
    const builtIn = builtInType(environment, name)
    if (builtIn) return JSON.stringify(builtIn.example)
    return store.eventTypes.find({ tenantId: caller.tenantId, environment, name })?.sample
  }

  /** Replays messages. A dry run only counts and so is a read. */
  async function replay(caller: Caller, id: string, input: ReplayRequest): Promise<Replay> {
    endpoints.get(streamOf(caller), id)
    const now = clock.now()
    const since = parseTimestamp(input.since, 'since')
    const until = input.until === undefined ? now + 1 : parseTimestamp(input.until, 'until')
    if (since > now) throw invalid('must not be in the future', { field: 'since', rule: 'range' })
    if (until <= since) throw invalid('must be after since', { field: 'until', rule: 'range' })
    if (environmentOf(caller) === 'test')
      throw invalid(
        'events sent with a test key are not delivered, so there is nothing to replay',
        { rule: 'not_allowed' },
      )
    const dryRun = input.dry_run ?? false
    if (!dryRun) metering.reserve(caller)
    const count = await delivery.replay(streamOf(caller), caller.actor, id, {
      since,
      until,
      which: input.which ?? 'undelivered',
      perSecond: input.per_second ?? REPLAYED_A_SECOND,
      dryRun,
    })
    return { count }
  }

  /** Hourly statistics; of the last day unless the query names another period. */
  function stats(
    caller: Caller,
    id: string,
    query: { since?: string | undefined; until?: string | undefined },
  ): Stats {
    endpoints.get(streamOf(caller), id)
    const until =
      query.until === undefined ? clock.now() + 1 : parseTimestamp(query.until, 'until', IN_QUERY)
    const since =
      query.since === undefined ? until - DAY_MS : parseTimestamp(query.since, 'since', IN_QUERY)
    return presentStats(delivery.hours.between(id, since, until))
  }

  return { get, ifAny, list, create, update, overlapEnd, remove, rotate, test, replay, stats }
}

const currentSecret = ({ secrets }: EndpointRecord): string =>
  secrets.find(({ expiresAt }) => expiresAt === null)?.secret ?? ''

/** The given fields only; an empty list of channels stands for all. */
function fieldsOf(input: EndpointChange): Partial<EndpointFields> {
  const { url, description, event_types, channels, format, headers, active } = input
  return {
    ...(url !== undefined && { url }),
    ...(description !== undefined && { description }),
    ...(event_types !== undefined && { eventTypes: event_types }),
    ...(channels !== undefined && { channels }),
    ...(format !== undefined && { format }),
    ...(headers !== undefined && { headers }),
    ...(active !== undefined && { isActive: active }),
  }
}
