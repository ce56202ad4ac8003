import type { Db } from '../db/open.ts'
import type { Actor, Audit } from '../platform/audit/index.ts'
import type { Clock } from '../platform/clock.ts'
import { fail, invalid, notFound } from '../platform/errors.ts'
import { newId } from '../platform/ids.ts'
import type { Endpoint, EndpointCache } from './endpoint-cache.ts'
import { SLICE } from './limits.ts'
import { addressOf, type CompiledFilter, compileFilter } from './matching.ts'
import { requireActive } from './paused.ts'
import type { SelfTest } from './self-test.ts'
import type { Store } from './store/index.ts'
import type { MessageAddress } from './store/messages.ts'
import { DELIVERY_QUEUES } from './store/rows.ts'
import type { Stream } from './stream.ts'
import { newRun, stepOf } from './transitions.ts'
import type { Wake } from './wake.ts'

export interface ReplayRequest {
  /** Milliseconds since the epoch. Selects messages accepted from `since` and before `until`. */
  since: number
  until: number
  /** Only messages that never succeeded at the endpoint, or all of them. */
  which: 'undelivered' | 'all'
  /** Attempts per second, so that the endpoint isn't overloaded. */
  perSecond: number
  /** Counts the messages without sending them. */
  dryRun: boolean
}

/** The most messages in one replay. A longer period is replayed in parts. */
const MAX_MESSAGES = 100_000

/** The request, endpoint and progress of one replay. */
interface Run {
  stream: Stream
  endpoint: Endpoint
  listensTo: CompiledFilter
  request: ReplayRequest
  startedAt: number
  count: number
}

/** Replays messages that an endpoint's current filter matches, even those older than it. */
export function createReplay(parts: {
  db: Db
  clock: Clock
  audit: Audit
  store: Store
  endpointCache: EndpointCache
  selfTest: SelfTest
  wake: Wake
}) {
  const { db, clock, audit, store, endpointCache, selfTest, wake } = parts

  /** Returns how many messages are, or would be, sent again. Each commit handles one slice. */
  async function replay(
    stream: Stream,
    actor: Actor,
    endpointId: string,
    request: ReplayRequest,
  ): Promise<number> {
    const endpoint = existing(stream, endpointId)
    const listensTo = compileFilter(endpoint)
    const run = { stream, endpoint, listensTo, request, startedAt: clock.now(), count: 0 }
    if (request.dryRun) await eachSlice(run, (wanted) => countInTurn(run, wanted))
    else {
      requireActive(endpoint, 'replay')
      await eachSlice(run, (wanted) => db.commitFor(stream.tenantId, () => sendAll(run, wanted)))
      await db.commitFor(stream.tenantId, () => record(run, actor))
    }
    return run.count
  }

  async function eachSlice(run: Run, take: (wanted: MessageAddress[]) => Promise<void>) {
    const { stream, request } = run
    const upTo = store.messages.seqAt(request.until)
    let after = store.messages.seqAt(request.since)
    if (store.messages.countBetween(stream, { after, upTo, limit: TOO_MANY }) === TOO_MANY)
      throw invalid(PARTS, { field: 'since', rule: 'too_many' })
    for (let seen = SLICE; seen === SLICE; ) {
      const slice = store.messages.between(stream, { after, upTo, limit: SLICE })
      await take(slice.filter((message) => isWanted(run, message)))
      seen = slice.length
      after = slice.at(-1)?.seq ?? upTo
    }
  }

  /** Times are compared too: after the clock was set back, message order is not time order. */
  function isWanted({ stream, endpoint, listensTo, request }: Run, message: MessageAddress) {
    const { seq, acceptedAt } = message
    if (acceptedAt < request.since || acceptedAt >= request.until) return false
    const result = listensTo(addressOf(message))
    if (selfTest(stream.tenantId, message)(endpoint, result) !== 'matches') return false
    const delivery = store.deliveries.toEndpoint(stream.tenantId, seq, endpoint.id)
    if (!delivery) return true
    if (delivery.endedAt === null) return false
    return request.which === 'all' || delivery.succeededAt === null
  }

  /** Sends one slice, after rechecking that the endpoint is active and the messages are wanted. */
  function sendAll(run: Run, wanted: MessageAddress[]) {
    requireActive(existing(run.stream, run.endpoint.id), 'replay')
    for (const message of wanted) if (isWanted(run, message)) sendAgain(run, message)
    wake.waiting(run.startedAt)
  }

  function sendAgain(run: Run, { seq }: MessageAddress) {
    const { stream, endpoint, request, startedAt } = run
    const dueAt = startedAt + Math.floor((run.count * 1000) / request.perSecond)
    count(run, 1)
    const delivery = store.deliveries.toEndpoint(stream.tenantId, seq, endpoint.id)
    if (delivery) return store.queue.move(delivery.seq, newRun(stepOf(delivery), 'replay', dueAt))
    return store.deliveries.insert({
      id: newId(),
      tenantId: stream.tenantId,
      stream: stream.name,
      messageSeq: seq,
      endpointId: endpoint.id,
      format: endpoint.format,
      state: 'waiting',
      queue: DELIVERY_QUEUES.again,
      trigger: 'replay',
      dueAt,
      createdAt: clock.now(),
      endedAt: null,
    })
  }

  /** Counts one slice and then lets other work run, as it does between two commits. */
  async function countInTurn(run: Run, wanted: MessageAddress[]) {
    count(run, wanted.length)
    await new Promise((resolve) => setImmediate(resolve))
  }

  function count(run: Run, more: number) {
    run.count += more
  }

  const record = ({ stream, endpoint, count }: Run, actor: Actor) =>
    audit.record({
      tenantId: stream.tenantId,
      actor,
      action: 'endpoint.replayed',
      object: `endpoint:${endpoint.id}`,
      detail: { count },
    })

  /** The endpoint of the replay. Its secrets aren't needed, so it need not be decryptable. */
  function existing(stream: Stream, id: string): Endpoint {
    const row = store.endpoints.find(stream, id) ?? fail(notFound('endpoint not found'))
    return endpointCache.readable(row)
  }

  return replay
}

const TOO_MANY = MAX_MESSAGES + 1
const PARTS = `must not select more than ${MAX_MESSAGES} messages; set until to replay them in parts`
