import type { Delivery } from '../../../delivery/index.ts'
import type { EventRow } from '../../../delivery/store/read-model.ts'
import type { Actor, Audit, LoggedEntry } from '../../../platform/audit/index.ts'
import type { Caller } from '../../../platform/caller.ts'
import type { Clock } from '../../../platform/clock.ts'
import { createCursor, type Page, page } from '../../../platform/cursor.ts'
import { type Device, deviceOf } from '../../../platform/device.ts'
import { HOUR_MS } from '../../../platform/durations.ts'
import { END } from '../../../platform/scan.ts'
import { SESSIONS_KEPT } from '../limits.ts'
import type { AuthenticationMethod } from '../sessions/model.ts'
import type { SessionRow } from '../sessions/store.ts'
import type { Store } from '../store.ts'
import { type EventType, webhookStream } from '../webhooks/events.ts'

/** An event in the life of an identity. */
export type Happening =
  | {
      kind: 'signed_in'
      at: number
      methods: string[]
      device: Device | null
      ipAddress: string | null
    }
  | { kind: 'event'; at: number; type: string }
  | { kind: 'done'; at: number; action: string; actor: Actor; detail: Record<string, unknown> }

/** Counts of events per hour. */
export interface Frequency {
  /** Counts of consecutive hours; the last one is the current hour. */
  hours: number[]
  /** Whether a count reached its limit. */
  isCut: boolean
}

const HOURS = 24
/** Maximum count per hour, enough for a chart. */
const MAX_PER_HOUR = 1000

interface HistoryQuery {
  since?: number | undefined
  until?: number | undefined
  cursor?: string | undefined
  limit: number
}

const LOGS = ['sessions', 'events', 'changes'] as const
type Log = (typeof LOGS)[number]
type Ends = [number, number, number]
type Part = HistoryQuery & { before: number }

/** A row of a log; without an entry if another log has it. */
interface Logged {
  seq: number
  at: number
  entry: Happening | undefined
}

/** Events that the session log and the audit log report in more detail. */
const REPORTED_TYPES: ReadonlySet<string> = new Set<EventType>([
  'identity.created',
  'identity.login',
  'identity.state_changed',
])

/** The history of an identity, from its sessions, its webhook events and the audit log. */
export function createHistory(parts: {
  clock: Clock
  audit: Audit
  store: Store
  delivery: Pick<Delivery, 'messages' | 'queries'>
}) {
  const { clock, audit, store, delivery } = parts

  /**
   * Sessions, events and changes, merged by their times, newest first. A cursor has how far each log was
   * read. Some events are left out, so a page can be short although more follow.
   */
  function list({ tenantId }: Caller, id: string, query: HistoryQuery): Page<Happening> {
    const { limit } = query
    const cursors = createCursor(`history of ${tenantId} ${id}`, ['number', 'number', 'number'])
    const starts = cursors.positionOf(query.cursor) ?? [END, END, END]
    const rows = LOGS.flatMap((log, number) => {
      const part = { ...query, before: starts[number] ?? END, limit: limit + 1 }
      return inOrder(logs[log]({ tenantId, id }, part)).map((row) => ({ ...row, log }))
    }).toSorted((one, other) => other.order - one.order)
    const found = page(rows, limit, () => {
      const read = rows.slice(0, limit)
      const endOf = (log: Log) => read.findLast((row) => row.log === log)?.seq
      return cursors.encode(LOGS.map((log, number) => endOf(log) ?? starts[number] ?? END) as Ends)
    })
    return { ...found, data: found.data.flatMap(({ entry }) => entry ?? []) }
  }

  /** What each log has of an identity before a row and within a time, newest first. */
  const logs: Record<Log, (of: { tenantId: string; id: string }, part: Part) => Logged[]> = {
    sessions: ({ tenantId, id }, { before, limit, since = 0, until = END }) =>
      store.sessions
        .recent(tenantId, id, SESSIONS_KEPT)
        .filter(({ seq, issuedAt: at }) => seq < before && at >= since && at < until)
        .toSorted((one, other) => other.seq - one.seq)
        .slice(0, limit)
        .map((row) => ({ seq: row.seq, at: row.issuedAt, entry: signIn(row) })),
    events: ({ tenantId, id }, { before, limit, since, until }) =>
      delivery.queries
        .about(
          { tenantId, about: id },
          {
            after: since === undefined ? 0 : delivery.messages.seqAt(since),
            before:
              until === undefined ? before : Math.min(before, delivery.messages.seqAt(until) + 1),
            limit,
          },
        )
        .map((row) => ({ seq: row.seq, at: row.acceptedAt, entry: eventEntry(row) })),
    changes: ({ tenantId, id }, part) =>
      audit
        .about(tenantId, `identity:${id}`, part)
        .map(({ seq, ...entry }) => ({ seq, at: entry.at, entry: changeEntry(entry) })),
  }

  /** Counts of the last day. */
  function frequency({ tenantId }: Pick<Caller, 'tenantId'>, type: EventType): Frequency {
    const stream = webhookStream(tenantId)
    const now = clock.now()
    const first = now - (now % HOUR_MS) - (HOURS - 1) * HOUR_MS
    const bounds = Array.from({ length: HOURS }, (_, index) =>
      delivery.messages.seqAt(first + index * HOUR_MS),
    )
    const hours = bounds.map((after, index) => {
      const upTo = bounds[index + 1] ?? END
      return delivery.queries.countOfType(stream, type, { after, upTo, limit: MAX_PER_HOUR })
    })
    return { hours, isCut: hours.some((count) => count === MAX_PER_HOUR) }
  }

  return { list, frequency }
}

/** Rows of a log keep their order when they are sorted by it, even if the clock was set back. */
function inOrder(rows: readonly Logged[]) {
  let order = END
  return rows.map((row) => {
    order = Math.min(order, row.at)
    return { ...row, order }
  })
}

const signIn = ({ issuedAt, methods, userAgent, ipAddress }: SessionRow): Happening => ({
  kind: 'signed_in',
  at: issuedAt,
  methods: (JSON.parse(methods) as AuthenticationMethod[]).map(({ method }) => method),
  device: deviceOf(userAgent),
  ipAddress,
})

const eventEntry = ({ acceptedAt: at, type }: EventRow): Happening | undefined =>
  REPORTED_TYPES.has(type) ? undefined : { kind: 'event', at, type }

const changeEntry = ({ at, action, actor, detail }: Omit<LoggedEntry, 'seq'>): Happening => ({
  kind: 'done',
  at,
  action,
  actor,
  detail,
})
