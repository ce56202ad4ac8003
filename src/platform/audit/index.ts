import type { Db } from '../../db/open.ts'
import type { Clock } from '../clock.ts'
import type { RetentionRule } from '../retention.ts'
import { SYSTEM_TENANT_ID } from '../system-tenant.ts'
import { type AuditRow, createAuditStore, type Span } from './store.ts'

/** The author of a change, and where the change came from. */
export interface Actor {
  kind: 'cli' | 'key' | 'operator' | 'person' | 'system'
  /** The id of the key, operator or person; absent for the command line and the system itself. */
  id?: string
  /** The client address, or the account and host of a command line. */
  source?: string
}

export interface AuditEntry {
  tenantId: string | null
  actor: Actor
  /** A noun and a past participle, such as `key.revoked`. */
  action: string
  /** The kind and id of the changed object, such as `key:0192…`. */
  object: string
  /** What changed; never contains a secret. */
  detail?: Record<string, unknown>
}

/** An entry stored in the log. */
export interface LoggedEntry extends Required<AuditEntry> {
  /** The position in the log, higher for later entries. */
  seq: number
  at: number
}

/** The conditions of a search; an entry must meet all of them. */
export interface AuditFilter {
  tenantId?: string | undefined
  /** A prefix of the action, such as `key.` for all changes to keys. */
  action?: string | undefined
  actorId?: string | undefined
  /** A substring of the object, such as an id. */
  object?: string | undefined
  /** Milliseconds since the epoch. */
  since?: number | undefined
  /** Milliseconds since the epoch, exclusive. */
  until?: number | undefined
}

export interface AuditPage {
  /** Newest first. */
  entries: LoggedEntry[]
  /** The `before` or `after` of the next page; undefined if there are no more entries. */
  next: number | undefined
}

export type Audit = ReturnType<typeof createAudit>

/** The number of rows read per query. */
const SLICE = 500
/** The maximum number of rows that one page scans, so that searches for rare entries stay short. */
const MAX_SCANNED = 5000

/** Append-only. Call `record` in the commit of the change. Order is that of writing, not time. */
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

  /** Records a change that concerns operators or the installation, under the system tenant. */
  const recordForOperators = (entry: Omit<AuditEntry, 'tenantId'>) =>
    record({ ...entry, tenantId: SYSTEM_TENANT_ID })

  /** Entries below number `before`, newest first. A page may be empty although more follow. */
  function list(filter: AuditFilter & { before?: number | undefined; limit: number }): AuditPage {
    const span = spanOf(filter)
    const entries: LoggedEntry[] = []
    let last = Math.min(span.last, (filter.before ?? Number.POSITIVE_INFINITY) - 1)
    for (let scanned = 0; scanned < MAX_SCANNED; scanned += SLICE) {
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

  /** The latest entries about an object of a tenant, newest first. */
  const about = (tenantId: string, object: string, limit: number): LoggedEntry[] =>
    store.about(tenantId, object, limit).map(entryOf)

  /** Returns a page of the entries that follow number `after`, newest first. */
  function listAfter(filter: AuditFilter & { after: number; limit: number }): AuditPage {
    const { first, last } = spanOf(filter)
    const entries: LoggedEntry[] = []
    let from = Math.max(first, filter.after + 1)
    for (let scanned = 0; scanned < MAX_SCANNED; scanned += SLICE) {
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

  /** Yields slices, oldest first, without loading the whole log into memory. */
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

  /** The rows of a period. Clocks can be set back, so each entry's time is checked as well. */
  function spanOf({ since, until }: AuditFilter): Span {
    if (since === undefined && until === undefined) return { first: 1, last: store.last() }
    const period = { since: since ?? 0, until: until ?? Number.MAX_SAFE_INTEGER }
    return store.spanOf(period) ?? { first: 1, last: 0 }
  }

  /** Deletes entries older than `keptMs`, which is the only way to remove entries. */
  const retention = (keptMs: number): RetentionRule => ({
    name: 'audit log',
    deleteSlice: (now, limit) => store.removeBefore(now - keptMs, limit),
  })

  return { record, recordForOperators, list, about, listAfter, oldestFirst, retention }
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
