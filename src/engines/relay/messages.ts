import type { Db } from '../../db/open.ts'
import type { Delivery } from '../../delivery/index.ts'
import { checkChannel, checkEventType } from '../../delivery/matching.ts'
import type { Subject } from '../../delivery/operational.ts'
import type { MessageHead } from '../../delivery/store/messages.ts'
import type { Status } from '../../http/delivery-log/model.ts'
import { statusOf } from '../../http/delivery-log/present.ts'
import type { Caller } from '../../platform/caller.ts'
import type { Clock } from '../../platform/clock.ts'
import { sha256 } from '../../platform/crypto.ts'
import { createCursor, type Page, page } from '../../platform/cursor.ts'
import { fail, invalid, notFound } from '../../platform/errors.ts'
import { withoutBlanks } from '../../platform/json-text.ts'
import type { Metering } from '../../platform/metering/index.ts'
import { restOf } from '../../platform/scan.ts'
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

/** An operational event. */
interface Announcement {
  tenantId: string
  type: string
  about: Subject
  payload: Record<string, unknown>
}

interface SummaryQuery {
  limit: number
  cursor?: string | undefined
  eventType?: string | undefined
  isAscending: boolean
  since?: number | undefined
  until?: number | undefined
}

/** A message as the console lists it. */
export interface MessageSummary {
  id: string
  type: string
  acceptedAt: number
  /** The first characters of the payload. */
  preview: string
  /** Of up to `MAX_OUTCOMES` deliveries. */
  outcomes: readonly { endpointId: string; status: Status }[]
}

const PREVIEW_LENGTH = 200
/** Deliveries of a message that a list looks at. */
export const MAX_OUTCOMES = 20

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

  function accept(
    producer: Producer,
    input: NewMessage,
    payload: string,
    now: number,
    about?: Subject,
  ) {
    const stream = streamOf(producer)
    const environment = environmentOf(producer)
    const { event_type: type, channels = [], idempotency_key: idempotencyKey } = input
    const event = { type, payload, channels: [...new Set(channels)], idempotencyKey, about }
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
  function announce({ tenantId, type, about, payload }: Announcement) {
    const producer = { tenantId, environment: 'live' } as const
    const message = { event_type: type, payload }
    accept(producer, message, JSON.stringify(payload), clock.now(), about)
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

  /** For the console: with the beginning of its payload and its outcomes, the worst first. */
  function summaries(caller: Caller, query: SummaryQuery): Page<MessageSummary> {
    const { limit, cursor, eventType: type, isAscending, since, until } = query
    const stream = streamOf(caller)
    const cursors = createCursor(`${ownList(caller, 'messages')} ${isAscending ? 'up' : ''}`)
    const window = {
      after: since === undefined ? undefined : delivery.messages.seqAt(since),
      before: until === undefined ? undefined : delivery.messages.seqAt(until) + 1,
      isAscending,
      limit: limit + 1,
    }
    const rows = delivery.messages.list(stream, {
      ...restOf(window, cursors.positionOf(cursor)),
      type,
    })
    const listed = page(rows, limit, ({ seq }) => cursors.encode(seq))
    const seqs = listed.data.map(({ seq }) => seq)
    const previews = delivery.messages.previews(caller.tenantId, seqs, PREVIEW_LENGTH)
    const outcomesOf = (seq: number) =>
      delivery.deliveries
        .ofMessage(stream, seq, { limit: MAX_OUTCOMES })
        .map((row) => ({ endpointId: row.endpointId, status: statusOf(row) }))
    return {
      ...listed,
      data: listed.data.map(({ seq, id, type, acceptedAt }) => ({
        ...{ id, type, acceptedAt },
        preview: previews.get(seq) ?? '',
        outcomes: outcomesOf(seq),
      })),
    }
  }

  /** A message with its outcome at each endpoint, and its payload exactly as sent. */
  function get(caller: Caller, id: string) {
    const stream = streamOf(caller)
    const row = delivery.messages.find(stream, id) ?? fail(notFound('message not found'))
    const outcomes = delivery.outcomesOf(stream, row, environmentOf(caller) === 'test')
    return { detail: presentMessageDetail(row, outcomes), payload: row.payload }
  }

  return { send, announce, list, summaries, get }
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
