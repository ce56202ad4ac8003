import type { Db } from '../db/open.ts'
import type { Actor, Audit } from '../platform/audit/index.ts'
import type { Clock } from '../platform/clock.ts'
import { conflict, fail, invalid, notFound } from '../platform/errors.ts'
import { newId } from '../platform/ids.ts'
import type { Outbound } from '../platform/outbound/index.ts'
import type { Scan } from '../platform/scan.ts'
import { SealError } from '../platform/sealing/index.ts'
import type { BulkHold } from './bulk-hold.ts'
import type { CircuitBreaker } from './circuit-breaker.ts'
import { checkCustomHeaders, keepMasked } from './custom-headers.ts'
import type { EndpointAlerts } from './endpoint-alerts.ts'
import type { Endpoint, EndpointCache } from './endpoint-cache.ts'
import type { Format } from './formats.ts'
import { ENDPOINTS_PER_STREAM } from './limits.ts'
import { checkChannel, checkTypePattern } from './matching.ts'
import { checkSecret, newSecret, rotate } from './signing-secrets.ts'
import type { EndpointRow } from './store/endpoints.ts'
import type { Store } from './store/index.ts'
import type { Stream } from './stream.ts'

const CANNOT_OPEN =
  'the secret and headers of this endpoint cannot be decrypted. Rotate the secret, then set the headers again'

/** The fields of an endpoint; a new one needs only a URL. */
export interface EndpointFields {
  url: string
  description: string
  /** Types and patterns; null for all. */
  eventTypes: string[] | null
  /** Empty for all channels. */
  channels: string[]
  format: Format
  headers: Record<string, string>
  isActive: boolean
}

export type NewEndpoint = Partial<EndpointFields> & { url: string; secret?: string }

/** `held` decides what happens to held deliveries, if there are any. */
export type EndpointChange = Partial<EndpointFields> & { held?: 'drain' | 'discard' }

export interface Rotated {
  secret: string
  /** When the previous secret stops signing; null if there is none. */
  previousExpiresAt: number | null
}

export type Endpoints = ReturnType<typeof createEndpoints>

/** Creates, changes, disables, enables and deletes the endpoints that receive events. */
export function createEndpoints(parts: {
  db: Db
  clock: Clock
  outbound: Outbound
  audit: Audit
  store: Store
  endpointCache: EndpointCache
  endpointAlerts: EndpointAlerts
  circuitBreaker: CircuitBreaker
  bulkHold: BulkHold
  brandName: string
}) {
  const { db, clock, outbound, audit, store, brandName } = parts
  const { endpointCache, endpointAlerts, circuitBreaker, bulkHold } = parts

  /** An endpoint for display. */
  const get = (stream: Stream, id: string): Endpoint => endpointCache.readable(existing(stream, id))

  /**
   * An endpoint for use. Throws if its secrets can't be decrypted: nothing may be sent unsigned, or
   * stored without the parts that couldn't be read.
   */
  function open(stream: Stream, id: string): Endpoint {
    try {
      return endpointCache.unsealed(existing(stream, id))
    } catch (error) {
      throw error instanceof SealError ? conflict(CANNOT_OPEN) : error
    }
  }

  const existing = (stream: Stream, id: string): EndpointRow =>
    store.endpoints.find(stream, id) ?? fail(notFound('endpoint not found'))

  const exists = (stream: Stream, id: string): boolean =>
    store.endpoints.find(stream, id) !== undefined

  /** All endpoints for display, oldest first. Their number is bounded by the limit per stream. */
  const all = (stream: Stream): Endpoint[] =>
    store.endpoints.list(stream).map(endpointCache.readable)

  /** One page of endpoints for display, newest first. */
  const list = (stream: Stream, scan: Scan): Endpoint[] =>
    store.endpoints.page(stream, scan).map(endpointCache.readable)

  async function create(stream: Stream, actor: Actor, input: NewEndpoint): Promise<Endpoint> {
    const { secret = newSecret(), ...fields } = input
    checkSecret(secret)
    check(fields)
    const headers = keepMasked(fields.headers ?? {}, {})
    const now = clock.now()
    const id = newId()
    return db.commitFor(stream.tenantId, () => {
      if (store.endpoints.count(stream) >= ENDPOINTS_PER_STREAM)
        throw conflict(`limit reached: ${ENDPOINTS_PER_STREAM} endpoints; delete one first`)
      const endpoint: Omit<Endpoint, 'seq'> = {
        ...NEW,
        ...fields,
        headers,
        id,
        tenantId: stream.tenantId,
        stream: stream.name,
        secrets: [{ secret, expiresAt: null }],
        disabledReason: fields.isActive === false ? 'manual' : null,
        createdAt: now,
        updatedAt: now,
        deletedAt: null,
      }
      store.endpoints.insert(endpointCache.sealed({ ...endpoint, seq: 0 }))
      noteFilter(endpoint)
      record(stream, actor, 'endpoint.created', id, { host: new URL(input.url).host })
      return get(stream, id)
    })
  }

  async function update(
    stream: Stream,
    actor: Actor,
    id: string,
    { held = 'drain', ...fields }: EndpointChange,
  ): Promise<Endpoint> {
    const before = open(stream, id)
    check(fields)
    changed(before, fields)
    const isBack = fields.isActive === true && !before.isActive
    // Nothing may be rejected after this line, because discarded deliveries can't be restored.
    if (isBack && held === 'discard') await bulkHold.discard(stream.tenantId, id)
    const after = await db.commitFor(stream.tenantId, () => {
      const now = open(stream, id)
      const next = changed(now, fields)
      store.endpoints.update(stream, endpointCache.sealed(next))
      if (listensDifferently(now, next)) noteFilter(next)
      if (now.isActive !== next.isActive) switched(next, held)
      else if (now.url !== next.url) circuitBreaker.tryNow(id)
      record(stream, actor, 'endpoint.updated', id, { fields: Object.keys(fields) })
      return next
    })
    if (!after.isActive) await bulkHold.parkAll(stream.tenantId, id)
    return after
  }

  function changed(endpoint: Endpoint, fields: Partial<EndpointFields>): Endpoint {
    const { isActive = endpoint.isActive } = fields
    return {
      ...endpoint,
      ...fields,
      headers:
        fields.headers === undefined
          ? endpoint.headers
          : keepMasked(fields.headers, endpoint.headers),
      disabledReason: isActive ? null : (endpoint.disabledReason ?? 'manual'),
      updatedAt: clock.now(),
    }
  }

  /** Applies `isActive`. Also discards deliveries that arrived while held ones were discarded. */
  function switched(endpoint: Endpoint, held: 'drain' | 'discard') {
    const { tenantId, id, isActive } = endpoint
    if (!isActive) {
      endpointAlerts.ended(tenantId, id)
      return circuitBreaker.suspend(id)
    }
    endpointAlerts.resumed(endpoint)
    if (held === 'discard') bulkHold.discardRest(tenantId, id)
    circuitBreaker.restart(tenantId, id)
  }

  /** Deletes an endpoint, which is invisible immediately, and cancels its open deliveries. */
  async function remove(stream: Stream, actor: Actor, id: string): Promise<void> {
    await db.commitFor(stream.tenantId, () => {
      if (!store.endpoints.markDeleted(stream, id, clock.now()))
        throw notFound('endpoint not found')
      circuitBreaker.suspend(id)
      endpointAlerts.ended(stream.tenantId, id)
      record(stream, actor, 'endpoint.deleted', id)
    })
    await bulkHold.cancelAll(stream.tenantId, id)
    await db.commitFor(stream.tenantId, () => store.endpoints.remove(stream.tenantId, id))
  }

  /** Returns the new secret; the old one signs for `graceMs` more. Repairs unreadable secrets. */
  function rotateSecret(
    stream: Stream,
    actor: Actor,
    id: string,
    { secret = newSecret(), graceMs }: { secret?: string | undefined; graceMs: number },
  ): Promise<Rotated> {
    checkSecret(secret)
    return db.commitFor(stream.tenantId, () => {
      const endpoint = get(stream, id)
      const now = clock.now()
      const secrets = rotate(endpoint.secrets, secret, { now, graceMs })
      const next = { ...endpoint, secrets, updatedAt: now }
      store.endpoints.update(stream, endpointCache.sealed(next))
      circuitBreaker.tryNow(id)
      record(stream, actor, 'endpoint.secret_rotated', id, { graceMs })
      const [, previous] = secrets
      return { secret, previousExpiresAt: previous?.expiresAt ?? null }
    })
  }

  function noteFilter({ id, eventTypes, channels }: Omit<Endpoint, 'seq'>) {
    store.endpoints.addFilter({
      endpointId: id,
      afterSeq: store.messages.lastSeq(),
      eventTypes: eventTypes === null ? null : JSON.stringify(eventTypes),
      channels: JSON.stringify(channels),
    })
  }

  /** Writes the audit entry and clears the cache, within the commit of the change. */
  function record(
    { tenantId }: Stream,
    actor: Actor,
    action: string,
    id: string,
    detail: Record<string, unknown> = {},
  ) {
    endpointCache.forget()
    audit.record({ tenantId, actor, action, object: `endpoint:${id}`, detail })
  }

  /** Refuses characters that a URL parser changes: the log shows the URL exactly as called. */
  function checkUrl(url: string) {
    if (UNSEEN.test(url))
      throw invalid('must not contain spaces, control characters or backslashes', {
        field: 'url',
        rule: 'characters',
      })
    outbound.checkUrl(url)
  }

  function check({ url, eventTypes, channels, headers }: Partial<EndpointFields>) {
    if (url !== undefined) checkUrl(url)
    for (const pattern of eventTypes ?? []) checkTypePattern(pattern, 'event_types')
    for (const channel of channels ?? []) checkChannel(channel, 'channels')
    if (headers !== undefined) checkCustomHeaders(headers, brandName)
  }

  return {
    get,
    open,
    isActive: store.endpoints.isActive,
    exists,
    all,
    list,
    create,
    update,
    remove,
    rotateSecret,
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const UNSEEN = /[\x00-\x20\x7f\\]/

const listensDifferently = (before: Endpoint, after: Endpoint): boolean =>
  JSON.stringify([before.eventTypes, before.channels]) !==
  JSON.stringify([after.eventTypes, after.channels])

const NEW: Omit<EndpointFields, 'url'> = {
  description: '',
  eventTypes: null,
  channels: [],
  format: 'standard',
  headers: {},
  isActive: true,
}
