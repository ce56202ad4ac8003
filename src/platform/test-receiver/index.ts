import { StorageError } from '../../db/errors.ts'
import type { Db } from '../../db/open.ts'
import { createBuckets } from '../buckets.ts'
import type { Clock } from '../clock.ts'
import { isSame } from '../crypto.ts'
import { DAY_MS } from '../durations.ts'
import type { Outbound, OutboundRequest, OutboundResult } from '../outbound/index.ts'
import type { RetentionRule } from '../retention.ts'
import type { Sealing } from '../sealing/index.ts'
import { isSensitive, MASK } from '../secret-headers.ts'
import type { Siblings } from '../siblings.ts'
import { createTenantStore } from '../tenants-store.ts'
import { createTestRequestStore } from './store.ts'

/** A reserved name (RFC 6761): no DNS server knows it, so no other service can have it. */
const ORIGIN = 'https://receiver.gatehouse.test'
const PATH = /^\/([\w-]{1,64})\/([a-z-]{1,32})\/([0-9a-f]{24})$/

const KEPT_MS = DAY_MS
const KEPT_REQUESTS = 20
const KEPT_BODY_BYTES = 8 * 1024
const KEPT_HEADER_BYTES = 8 * 1024
const PER_MINUTE = 60
const UNKNOWN = { error: 'no such test receiver' }

/** A request that a test receiver got. */
export interface ReceivedRequest {
  id: string
  at: number
  method: string
  headers: Record<string, string>
  /** Its first 8 KB. */
  body: string
  bodyBytes: number
}

export type TestReceivers = ReturnType<typeof createTestReceivers>

/**
 * Built-in targets for first jobs and webhooks: they keep what they receive for a day, and answer 200.
 * Requests to them never reach the network, so they work without `[outbound] allow`.
 */
export function createTestReceivers(parts: {
  db: Db
  clock: Clock
  sealing: Sealing
  siblings: Siblings
}) {
  const { db, clock, sealing, siblings } = parts
  const store = createTestRequestStore(db)
  const tenants = createTenantStore(db)
  const rate = createBuckets({
    clock,
    perMinute: PER_MINUTE,
    shared: { siblings, limit: 'requests to test receivers' },
  })

  const tokenOf = (tenantId: string, name: string): string =>
    sealing.fingerprint('test receivers', JSON.stringify([tenantId, name])).slice(0, 24)

  /** The secret URL of a tenant's receiver, which exists without being created. */
  const urlOf = (tenantId: string, name: string): string =>
    `${ORIGIN}/${tenantId}/${name}/${tokenOf(tenantId, name)}`

  /** The tenant and name of a receiver; undefined if the URL belongs to none. */
  function receiverAt({ pathname }: URL) {
    const [, tenantId, name, token] = PATH.exec(pathname) ?? []
    if (!tenantId || !name || !token) return undefined
    return isSame(token, tokenOf(tenantId, name)) ? { tenantId, name } : undefined
  }

  /** The newest requests of a receiver, newest first. */
  const requests = (tenantId: string, name: string, limit = KEPT_REQUESTS): ReceivedRequest[] =>
    store
      .newest(tenantId, name, limit)
      .map(({ seq, createdAt, headers, ...row }) => ({
        id: `${seq}`,
        at: createdAt,
        method: row.method,
        headers: JSON.parse(headers),
        body: row.body,
        bodyBytes: row.bodyBytes,
      }))

  async function answer(request: OutboundRequest, url: URL): Promise<OutboundResult> {
    const receiver = receiverAt(url)
    if (!receiver) return replyOf(404, UNKNOWN)
    const waitMs = rate.take(`${receiver.tenantId} ${receiver.name}`)
    if (waitMs > 0)
      return replyOf(
        429,
        { error: `a test receiver accepts ${PER_MINUTE} requests a minute` },
        { 'Retry-After': `${Math.ceil(waitMs / 1000)}` },
      )
    return keep(receiver, request)
  }

  async function keep(
    { tenantId, name }: { tenantId: string; name: string },
    { method, headers, secretHeaders = [], body }: OutboundRequest,
  ): Promise<OutboundResult> {
    const bytes = Buffer.from(body ?? '')
    const row = {
      tenantId,
      receiver: name,
      method: method.toUpperCase(),
      headers: JSON.stringify(upTo(KEPT_HEADER_BYTES, masked(headers, secretHeaders))),
      body: textOf(bytes.subarray(0, KEPT_BODY_BYTES)),
      bodyBytes: bytes.length,
      createdAt: clock.now(),
    }
    try {
      const isKept = await db.commitFor(tenantId, () => {
        // The URL of a deleted tenant may still be in use elsewhere.
        if (!tenants.find(tenantId)) return false
        store.insert(row)
        store.trim(tenantId, name, KEPT_REQUESTS)
        return true
      })
      if (!isKept) return replyOf(404, UNKNOWN)
    } catch (error) {
      if (error instanceof StorageError) return replyOf(503, { error: 'could not be stored' })
      throw error
    }
    return replyOf(200, { received: true })
  }

  /** Answers requests to test receivers, and leaves all others to `outbound`. */
  const before = (outbound: Outbound): Outbound => ({
    ...outbound,
    send(request) {
      const url = URL.parse(request.url)
      return url?.origin === ORIGIN ? answer(request, url) : outbound.send(request)
    },
  })

  const retention: RetentionRule = {
    name: 'test requests',
    deleteSlice: (now, limit) => store.removeBefore(now - KEPT_MS, limit),
  }

  return { urlOf, requests, before, retention }
}

/** Whether a URL is one of a test receiver. */
export const isTestReceiver = (url: string): boolean => URL.parse(url)?.origin === ORIGIN

/** Values of signatures, by which a receiver is verified and which are secret to no one. */
const SIGNATURE = /^(v1,[\w+/]{43}=( |$))+$|^t=\d+(,v1=[0-9a-f]{64})+$/

/** Hides secrets, such as the token in a header of a job. */
const masked = (
  headers: Record<string, string>,
  secret: readonly string[],
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      secret.includes(name) || (isSensitive(name) && !SIGNATURE.test(value)) ? MASK : value,
    ]),
  )

/** Whole headers up to a size, in order. */
function upTo(limit: number, headers: Record<string, string>): Record<string, string> {
  let size = 0
  return Object.fromEntries(
    Object.entries(headers).filter(([name, value]) => {
      size += name.length + value.length
      return size <= limit
    }),
  )
}

/** Streaming mode omits a character that the limit cut in two. */
const textOf = (bytes: Uint8Array): string =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes, { stream: true })

function replyOf(
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): OutboundResult {
  return {
    replied: true,
    status,
    headers: Object.entries({ 'Content-Type': 'application/json', ...headers }),
    body: Buffer.from(JSON.stringify(body)),
    truncated: false,
    bodyIssue: null,
    address: null,
    timings: { dns: 0, connect: 0, tls: 0, wait: 0, read: 0 },
  }
}
