import type { Db } from '../../db/open.ts'
import type { Delivery } from '../../delivery/index.ts'
import { checkChannel, checkEventType } from '../../delivery/matching.ts'
import type { MessageHead } from '../../delivery/store/messages.ts'
import type { Caller } from '../../platform/caller.ts'
import type { Clock } from '../../platform/clock.ts'
import { sha256 } from '../../platform/crypto.ts'
import { createCursor, type Page, page } from '../../platform/cursor.ts'
import { fail, invalid, notFound } from '../../platform/errors.ts'
import { withoutBlanks } from '../../platform/json-text.ts'
import type { Metering } from '../../platform/metering/index.ts'
import type { Catalog } from './catalog.ts'
import { presentMessageDetail } from './explain.ts'
import { MAX_PAYLOAD_BYTES } from './limits.ts'
import type { RelayEvents } from './metrics.ts'
import type { Message, NewMessage } from './model/messages.ts'
import { presentMessage } from './present.ts'
import type { Store } from './store/index.ts'
import { environmentOf, ownList, type Producer, streamOf } from './stream.ts'

/** The answer to a producer. */
interface Receipt {
  message: Message
  /** True if the idempotency key was already used for a different message. */
  isMismatch: boolean
}

export type Messages = ReturnType<typeof createMessages>

const cursorsOf = (caller: Caller) => createCursor(ownList(caller, 'messages'))

/** Accepts events: contract/passepartout-relay, event relay engine. */
export function createMessages(parts: {
  db: Db
  clock: Clock
  delivery: Delivery
  store: Store
  catalog: Catalog
  events: RelayEvents
  metering: Metering
  idempotencyWindowMs: number
}) {
  const { db, clock, delivery, store, catalog, events, metering, idempotencyWindowMs } = parts

  /** Resolves with message, idempotency key and deliveries on disk. `payloadText` is as sent. */
  async function send(caller: Caller, input: NewMessage, payloadText: string): Promise<Receipt> {
    check(input, payloadText)
    const digest = input.idempotency_key === undefined ? '' : digestOf(input, payloadText)
    return db.commitFor(caller.tenantId, () => acceptOnce(caller, input, payloadText, digest))
  }

  /** Work in a commit runs in sequence: of two requests with a key, the second finds the first. */
  function acceptOnce(
    caller: Caller,
    input: NewMessage,
    payloadText: string,
    digest: string,
  ): Receipt {
    const now = clock.now()
    const original = originalOf(caller, input, now)
    if (original) {
      events.repeated()
      const { messageId: id, eventType: type, acceptedAt } = original
      return {
        message: presentMessage({ id, type, acceptedAt }),
        isMismatch: original.digest !== digest,
      }
    }
    metering.reserve(caller)
    const message = accept(caller, input, payloadText, now)
    remember(caller, input, message, digest)
    return { message: presentMessage(message), isMismatch: false }
  }

  function originalOf(caller: Caller, { idempotency_key: key }: NewMessage, now: number) {
    if (key === undefined) return undefined
    const known = store.idempotency.find(caller.tenantId, environmentOf(caller), key)
    return known && known.expiresAt > now ? known : undefined
  }

  function accept(producer: Producer, input: NewMessage, payload: string, now: number) {
    const stream = streamOf(producer)
    const environment = environmentOf(producer)
    const { event_type: type, channels = [], idempotency_key: idempotencyKey } = input
    const event = { type, payload, channels: [...new Set(channels)], idempotencyKey }
    const { id } =
      environment === 'live'
        ? delivery.publish(stream, event, now)
        : delivery.accept(stream, event, now)
    catalog.note(producer.tenantId, environment, {
      type,
      payload: input.payload,
      payloadText: payload,
      now,
    })
    events.accepted(environment)
    return { id, type, acceptedAt: now }
  }

  /** Publishes an event for the tenant itself within a commit, as if sent with a live key. */
  function announce(tenantId: string, type: string, payload: Record<string, unknown>) {
    const producer = { tenantId, environment: 'live' } as const
    accept(producer, { event_type: type, payload }, JSON.stringify(payload), clock.now())
  }

  function remember(
    caller: Caller,
    { idempotency_key: key }: NewMessage,
    { id: messageId, type: eventType, acceptedAt }: Omit<MessageHead, 'seq'>,
    digest: string,
  ) {
    if (key === undefined) return
    store.idempotency.put({
      tenantId: caller.tenantId,
      environment: environmentOf(caller),
      key,
      messageId,
      eventType,
      acceptedAt,
      digest,
      expiresAt: acceptedAt + idempotencyWindowMs,
    })
  }

  /** Newest first. */
  function list(
    caller: Caller,
    query: { limit: number; cursor?: string | undefined; event_type?: string | undefined },
  ): Page<Message> {
    const { limit, cursor, event_type: type } = query
    const before = cursorsOf(caller).positionOf(cursor)
    const rows = delivery.messages.list(streamOf(caller), { before, limit: limit + 1, type })
    const listed = page(rows, limit, ({ seq }) => cursorsOf(caller).encode(seq))
    return { ...listed, data: listed.data.map(presentMessage) }
  }

  /** A message with its outcome at each endpoint, and its payload exactly as sent. */
  function get(caller: Caller, id: string) {
    const stream = streamOf(caller)
    const row = delivery.messages.find(stream, id) ?? fail(notFound('message not found'))
    const outcomes = delivery.outcomesOf(stream, row, environmentOf(caller) === 'test')
    return { detail: presentMessageDetail(row, outcomes), payload: row.payload }
  }

  return { send, announce, list, get }
}

function check({ event_type, channels }: NewMessage, payloadText: string) {
  checkEventType(event_type, 'event_type')
  for (const channel of channels ?? []) checkChannel(channel, 'channels')
  const size = Buffer.byteLength(payloadText)
  if (size > MAX_PAYLOAD_BYTES)
    throw invalid(`must be at most ${MAX_PAYLOAD_BYTES} bytes; this one has ${size}`, {
      field: 'payload',
      rule: 'too_large',
    })
}

/** Whitespace makes no difference; numbers compare as written. */
const digestOf = ({ event_type, channels = [] }: NewMessage, payloadText: string): string =>
  sha256(
    JSON.stringify([event_type, [...new Set(channels)].toSorted(), withoutBlanks(payloadText)]),
  )
