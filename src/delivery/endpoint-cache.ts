import type { Db } from '../db/open.ts'
import { createReadCache } from '../platform/read-cache.ts'
import { SealError, type Sealing } from '../platform/sealing/index.ts'
import type { Format } from './formats.ts'
import { type CompiledFilter, compileFilter, filterOf } from './matching.ts'
import { endpointHeaders, endpointSecrets } from './sealed.ts'
import type { SigningSecret } from './signing-secrets.ts'
import type { EndpointRow } from './store/endpoints.ts'
import type { Store } from './store/index.ts'
import type { Stream } from './stream.ts'

/** An endpoint with its secrets decrypted. It must not leave the process in this form. */
export interface Endpoint
  extends Omit<EndpointRow, 'eventTypes' | 'channels' | 'headers' | 'secrets'> {
  eventTypes: string[] | null
  channels: string[]
  headers: Record<string, string>
  secrets: SigningSecret[]
}

/** What `publish` needs to know about an endpoint. */
export interface Subscriber {
  id: string
  url: string
  isActive: boolean
  format: Format
  match: CompiledFilter
}

export type EndpointCache = ReturnType<typeof createEndpointCache>

/** Caches endpoints for deliveries until one of them changes. */
export function createEndpointCache(parts: { db: Db; store: Store; sealing: Sealing }) {
  const { db, store, sealing } = parts
  const subscribers = createReadCache<Subscriber[]>(db, 1000)
  const endpoints = createReadCache<Endpoint>(db, 5000)

  /** All endpoints of a stream, active or not. */
  function subscribersOf(stream: Stream): Subscriber[] {
    const name = `${stream.tenantId} ${stream.name}`
    return (
      subscribers.get(name) ?? subscribers.set(name, store.endpoints.list(stream).map(subscriberOf))
    )
  }

  function find(tenantId: string, id: string): Endpoint | undefined {
    const name = `${tenantId} ${id}`
    const known = endpoints.get(name)
    if (known) return known
    const row = store.endpoints.ofTenant(tenantId, id)
    return row && endpoints.set(name, unsealed(row))
  }

  const unsealed = (row: EndpointRow): Endpoint => ({
    ...row,
    ...filterOf(row),
    headers: JSON.parse(opened(endpointHeaders, row, row.headers)),
    secrets: JSON.parse(opened(endpointSecrets, row, row.secrets)),
  })

  /** For display: leaves out secrets that can't be decrypted, so the rest can still be shown. */
  function readable(row: EndpointRow): Endpoint {
    try {
      return unsealed(row)
    } catch (error) {
      if (!(error instanceof SealError)) throw error
      return { ...row, ...filterOf(row), headers: {}, secrets: [] }
    }
  }

  const sealed = (endpoint: Endpoint): EndpointRow => ({
    ...endpoint,
    eventTypes: endpoint.eventTypes === null ? null : JSON.stringify(endpoint.eventTypes),
    channels: JSON.stringify(endpoint.channels),
    headers: seal(endpointHeaders, endpoint, endpoint.headers),
    secrets: seal(endpointSecrets, endpoint, endpoint.secrets),
  })

  const opened = ({ purpose, boundTo }: SealedPart, { id }: { id: string }, text: string) =>
    sealing.open(purpose, boundTo({ id }), text)

  const seal = ({ purpose, boundTo }: SealedPart, { id }: { id: string }, value: unknown) =>
    sealing.seal(purpose, boundTo({ id }), JSON.stringify(value))

  /** Clears the cache. Called after every change of an endpoint. */
  function forget() {
    subscribers.forget()
    endpoints.forget()
  }

  return { subscribersOf, find, unsealed, readable, sealed, forget }
}

type SealedPart = typeof endpointHeaders

const subscriberOf = (row: EndpointRow): Subscriber => ({
  id: row.id,
  url: row.url,
  isActive: row.isActive,
  format: row.format,
  match: compileFilter(filterOf(row)),
})
