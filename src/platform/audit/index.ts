import type { Db } from '../../db/open.ts'
import type { Clock } from '../clock.ts'
import type { RetentionRule } from '../retention.ts'
import { END, type Window } from '../scan.ts'
import { SYSTEM_TENANT_ID } from '../system-tenant.ts'
import { type AuditRow, createAuditStore, type Span } from './store.ts'

/** The author of a change, and where the change came from. */
export interface Actor {
  kind: 'cli' | 'key' | 'operator' | 'person' | 'system'
  /** The id of the key, operator or person; absent for the command line and the system itself. */
  id?: string
  /** The client address, the account and host of a command line, or `installation` for its keys. */
  source?: string
}

/** The source of what a key of the installation did. */
export const INSTALLATION_SOURCE = 'installation'

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

interface Period {
  /** Milliseconds since the epoch. */
  since?: number | undefined
  /** Milliseconds since the epoch, exclusive. */
  until?: number | undefined
}

/** The conditions of a search; an entry must meet all of them. */
export interface AuditFilter extends Period {
  tenantId?: string | undefined
  /** A prefix of the action, such as `key.` for all changes to keys. */
  action?: string | undefined
  actorId?: string | undefined
  /** A substring of the object, such as an id. */
  object?: string | undefined
}

export interface AuditPage {
  entries: LoggedEntry[]
  /** The `before` of the next page, or its `after` if ascending; undefined if there are no more entries. */
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

  /** Entries between two numbers, newest first unless ascending. A page may be empty although more follow. */
  function list(filter: AuditFilter & Window): AuditPage {
    const { tenantId, limit, isAscending } = filter
    const read = isAscending ? store.oldest : store.newest
    const entries: LoggedEntry[] = []
    let span = spanOf(filter)
    for (let scanned = 0; scanned < MAX_SCANNED; scanned += SLICE) {
      const rows = read(tenantId, span, SLICE)
      for (const row of rows) {
        if (!answersTo(row, filter)) continue
        entries.push(entryOf(row))
        if (entries.length === limit) return { entries, next: row.seq }
      }
      const last = rows.at(-1)
      if (rows.length < SLICE || !last) return { entries, next: undefined }
      span = isAscending ? { ...span, first: last.seq + 1 } : { ...span, last: last.seq - 1 }
    }
    return { entries, next: isAscending ? span.first - 1 : span.last + 1 }
  }

  /** Entries about an object of a tenant, newest first. */
  const about = (tenantId: string, object: string, filter: Period & Window): LoggedEntry[] =>
    store.about(tenantId, object, spanOf(filter), filter.limit).map(entryOf)

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
  function spanOf({ since, until, after = 0, before = END }: Period & Partial<Window>): Span {
    const isAnyTime = since === undefined && until === undefined
    const period = { since: since ?? 0, until: until ?? END }
    const { first, last } = (isAnyTime ? undefined : store.spanOf(period)) ?? {
      first: 1,
      last: isAnyTime ? store.last() : 0,
    }
    return { first: Math.max(first, after + 1), last: Math.min(last, before - 1) }
  }

  /** Deletes entries older than `keptMs`, which is the only way to remove entries. */
  const retention = (keptMs: number): RetentionRule => ({
    name: 'audit log',
    deleteSlice: (now, limit) => store.removeBefore(now - keptMs, limit),
  })

  return { record, recordForOperators, list, about, oldestFirst, retention }
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
