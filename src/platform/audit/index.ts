import type { Db } from '../../db/open.ts'
import type { Clock } from '../clock.ts'
import type { RetentionRule } from '../retention.ts'
import { type AuditRow, createAuditStore, type Span } from './store.ts'

/** Who acts, and from where. */
export interface Actor {
  kind: 'cli' | 'key' | 'operator' | 'person' | 'system'
  /** Id of the key, operator or person; absent for the command line and the system itself. */
  id?: string
  /** Client address, or account and host of a command line. */
  source?: string
}

export interface AuditEntry {
  tenantId: string | null
  actor: Actor
  /** Noun and past participle: `key.revoked`. */
  action: string
  /** Kind and id of what was acted on: `key:0192…`. */
  object: string
  /** What changed; never a secret. */
  detail?: Record<string, unknown>
}

/** An entry as it stands in the log. */
export interface LoggedEntry extends Required<AuditEntry> {
  /** Its place: later ones have higher numbers. */
  seq: number
  at: number
}

/** What to look for; an entry has to answer to all of it. */
export interface AuditFilter {
  tenantId?: string | undefined
  /** How the action begins: `key.` for all that is done to keys. */
  action?: string | undefined
  actorId?: string | undefined
  /** A part of the object, such as an id. */
  object?: string | undefined
  /** Milliseconds since the epoch. */
  since?: number | undefined
  /** The first moment that is too late. */
  until?: number | undefined
}

export interface AuditPage {
  /** Newest first. */
  entries: LoggedEntry[]
  /** What to go on with, as `before` or `after`; undefined at that end. */
  next: number | undefined
}

export type Audit = ReturnType<typeof createAudit>

/** Rows that are read at once. */
const SLICE = 500
/** Rows that one list looks at: a rare thing is looked for page by page, not in one go. */
const MAX_SCANNED = 5000

/**
 * The append-only log. `record` runs inside the commit of the change it reports. The order of the
 * log is that in which it was written, whatever the clock said.
 */
export function createAudit({ db, clock }: { db: Db; clock: Clock }) {
  const store = createAuditStore(db)

  function record({ tenantId, actor, action, object, detail = {} }: AuditEntry) {
    store.insert({
      at: clock.now(),
      tenantId,
      actorKind: actor.kind,
      actorId: actor.id ?? null,
      action,
      object,
      source: actor.source ?? null,
      detail: JSON.stringify(detail),
    })
  }

  /**
   * A page, newest first, from behind the entry with the number `before`. A page may hold fewer
   * than `limit`, or none, and still not be the last.
   */
  function list(filter: AuditFilter & { before?: number | undefined; limit: number }): AuditPage {
    const span = spanOf(filter)
    const entries: LoggedEntry[] = []
    let last = Math.min(span.last, (filter.before ?? Number.POSITIVE_INFINITY) - 1)
    for (let looked = 0; looked < MAX_SCANNED; looked += SLICE) {
      const rows = store.newest(filter.tenantId, { ...span, last }, SLICE)
      for (const row of rows) {
        if (!answersTo(row, filter)) continue
        entries.push(entryOf(row))
        if (entries.length === filter.limit) return { entries, next: row.seq }
      }
      if (rows.length < SLICE) return { entries, next: undefined }
      last = (rows.at(-1)?.seq ?? 0) - 1
    }
    return { entries, next: last + 1 }
  }

  /** What was done last to one thing of a tenant, newest first. */
  const about = (tenantId: string, object: string, limit: number): LoggedEntry[] =>
    store.about(tenantId, object, limit).map(entryOf)

  /** The page on the way back: what came after the entry with the number `after`, as a `list`. */
  function listAfter(filter: AuditFilter & { after: number; limit: number }): AuditPage {
    const { first, last } = spanOf(filter)
    const entries: LoggedEntry[] = []
    let from = Math.max(first, filter.after + 1)
    for (let looked = 0; looked < MAX_SCANNED; looked += SLICE) {
      const rows = store.oldest(filter.tenantId, { first: from, last }, SLICE)
      for (const row of rows) {
        if (!answersTo(row, filter)) continue
        entries.unshift(entryOf(row))
        if (entries.length === filter.limit) return { entries, next: row.seq }
      }
      if (rows.length < SLICE) return { entries, next: undefined }
      from = (rows.at(-1)?.seq ?? last) + 1
    }
    return { entries, next: from - 1 }
  }

  /** All that is there now, oldest first and a slice at a time, however long the log is. */
  function* oldestFirst(filter: AuditFilter): Generator<LoggedEntry[]> {
    const { first, last } = spanOf(filter)
    let from = first
    while (true) {
      const rows = store.oldest(filter.tenantId, { first: from, last }, SLICE)
      yield rows.filter((row) => answersTo(row, filter)).map(entryOf)
      if (rows.length < SLICE) return
      from = (rows.at(-1)?.seq ?? last) + 1
    }
  }

  /** Bounds for what lies within the times. Clocks are set back: each entry is looked at as well. */
  function spanOf({ since, until }: AuditFilter): Span {
    if (since === undefined && until === undefined) return { first: 1, last: store.last() }
    const period = { since: since ?? 0, until: until ?? Number.MAX_SAFE_INTEGER }
    return store.spanOf(period) ?? { first: 1, last: 0 }
  }

  /** Rows older than `keptMs` go: the only way out of the log. */
  const retention = (keptMs: number): RetentionRule => ({
    name: 'audit log',
    deleteSlice: (now, limit) => store.removeBefore(now - keptMs, limit),
  })

  return { record, list, about, listAfter, oldestFirst, retention }
}

function answersTo(row: AuditRow, { action, actorId, object, since, until }: AuditFilter): boolean {
  return (
    (action === undefined || row.action.startsWith(action)) &&
    (actorId === undefined || row.actorId === actorId) &&
    (object === undefined || row.object.includes(object)) &&
    (since === undefined || row.at >= since) &&
    (until === undefined || row.at < until)
  )
}

const entryOf = (row: AuditRow): LoggedEntry => ({
  seq: row.seq,
  at: row.at,
  tenantId: row.tenantId,
  actor: {
    kind: row.actorKind,
    ...(row.actorId !== null && { id: row.actorId }),
    ...(row.source !== null && { source: row.source }),
  },
  action: row.action,
  object: row.object,
  detail: JSON.parse(row.detail),
})
