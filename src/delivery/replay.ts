import type { Db } from '../db/open.ts'
import type { Clock } from '../platform/clock.ts'
import { conflict, fail, invalid, notFound } from '../platform/errors.ts'
import { newId } from '../platform/ids.ts'
import type { Directory, Endpoint } from './directory.ts'
import { SLICE } from './limits.ts'
import { type CompiledFilter, compileFilter } from './matching.ts'
import type { Store } from './store/index.ts'
import type { MessageAddress } from './store/messages.ts'
import { LINES } from './store/rows.ts'
import type { Stream } from './stream.ts'
import { newRun, stepOf } from './transitions.ts'
import type { Wake } from './wake.ts'

export interface ReplayRequest {
  /** Milliseconds since the epoch; messages accepted from `since` on and before `until`. */
  since: number
  until: number
  /** What never succeeded there, or everything once more. */
  which: 'undelivered' | 'all'
  /** Attempts a second, so that the endpoint is not run over. */
  perSecond: number
  /** Only counts. */
  dryRun: boolean
}

/** What one replay looks at: a longer window is replayed in parts. */
const MOST_MESSAGES = 100_000

/** Past messages to one endpoint: those that its filter matches now, also from before it was. */
export function createReplay(parts: {
  db: Db
  clock: Clock
  store: Store
  directory: Directory
  wake: Wake
}) {
  const { db, clock, store, directory, wake } = parts

  /** How many messages are, or would be, sent again. */
  return async (stream: Stream, endpointId: string, request: ReplayRequest): Promise<number> => {
    const endpoint = existing(stream, endpointId)
    if (!request.dryRun) requireActive(stream, endpointId)
    const listensTo = compileFilter(endpoint)
    const upTo = store.messages.placeAt(request.until)
    const first = clock.now()
    let after = store.messages.placeAt(request.since)
    if (store.messages.countBetween(stream, { after, upTo, limit: TOO_MANY }) === TOO_MANY)
      throw invalid(PARTS)
    let count = 0
    while (true) {
      const slice = store.messages.between(stream, { after, upTo, limit: SLICE })
      count += await db.commit(() =>
        replaySlice(slice, (n) => first + Math.floor((n * 1000) / request.perSecond)),
      )
      const last = slice.at(-1)
      if (!last || slice.length < SLICE) return count
      after = last.seq
    }

    /** The endpoint may have been switched off or deleted since the slice before. */
    function replaySlice(slice: MessageAddress[], dueAt: (n: number) => number): number {
      if (!request.dryRun) requireActive(stream, endpointId)
      const wanted = slice.filter((message) => isWanted(message))
      if (!request.dryRun) {
        wanted.forEach((message, i) => {
          sendAgain(message, dueAt(count + i))
        })
        wake.waiting(first)
      }
      return wanted.length
    }

    function isWanted({ seq, type, channels }: MessageAddress): boolean {
      if (!isFor(listensTo, type, channels)) return false
      const delivery = store.deliveries.toEndpoint(stream.tenantId, seq, endpointId)
      if (!delivery) return true
      if (delivery.endedAt === null) return false
      return request.which === 'all' || delivery.state !== 'succeeded'
    }

    function sendAgain({ seq }: MessageAddress, dueAt: number) {
      const delivery = store.deliveries.toEndpoint(stream.tenantId, seq, endpointId)
      if (delivery) return store.line.move(delivery.seq, newRun(stepOf(delivery), 'replay', dueAt))
      return store.deliveries.insert({
        id: newId(),
        tenantId: stream.tenantId,
        stream: stream.name,
        messageSeq: seq,
        endpointId,
        format: endpoint.format,
        state: 'waiting',
        line: LINES.again,
        trigger: 'replay',
        dueAt,
        createdAt: clock.now(),
      })
    }
  }

  function requireActive(stream: Stream, id: string) {
    if (!existing(stream, id).isActive)
      throw conflict('the endpoint is not active; switch it on before a replay')
  }

  function existing(stream: Stream, id: string): Endpoint {
    const row = store.endpoints.find(stream, id)
    return (row && directory.find(stream.tenantId, id)) ?? fail(notFound('endpoint not found'))
  }
}

const TOO_MANY = MOST_MESSAGES + 1
const PARTS = `since: more than ${MOST_MESSAGES} messages until then; replay them in parts, by until`

const isFor = (listensTo: CompiledFilter, type: string, channels: string | null): boolean =>
  listensTo(type, channels === null ? [] : JSON.parse(channels)) === 'matches'
