import { asc, inArray, sql } from 'drizzle-orm'
import type { Db } from '../db/open.ts'
import type { Clock } from './clock.ts'
import type { RetentionRule } from './retention.ts'
import { auditLog } from './schema.ts'

/** Who acts, and from where. */
export interface Actor {
  kind: 'cli' | 'key' | 'operator' | 'person' | 'system'
  /** Id of the key, operator or person; absent for the command line and the system itself. */
  id?: string
  /** Client address, or account and host of a command line. */
  source?: string
}

/** Who acts when a key does: the key, whoever holds it. */
export const actorOf = ({ keyId }: { keyId: string }): Actor => ({ kind: 'key', id: keyId })

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

export type Audit = ReturnType<typeof createAudit>

/** The append-only log. `record` runs inside the commit of the change it reports. */
export function createAudit({ db, clock }: { db: Db; clock: Clock }) {
  const insert = db.orm
    .insert(auditLog)
    .values({
      at: sql.placeholder('at'),
      tenantId: sql.placeholder('tenantId'),
      actorKind: sql.placeholder('actorKind'),
      actorId: sql.placeholder('actorId'),
      action: sql.placeholder('action'),
      object: sql.placeholder('object'),
      source: sql.placeholder('source'),
      detail: sql.placeholder('detail'),
    })
    .prepare()

  const removeBefore = db.orm
    .delete(auditLog)
    .where(
      inArray(
        auditLog.seq,
        db.orm
          .select({ seq: auditLog.seq })
          .from(auditLog)
          .where(sql`${auditLog.at} < ${sql.placeholder('before')}`)
          .orderBy(asc(auditLog.at))
          .limit(sql.placeholder('limit')),
      ),
    )
    .returning({ seq: auditLog.seq })
    .prepare()

  function record({ tenantId, actor, action, object, detail = {} }: AuditEntry) {
    insert.run({
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

  /** Rows older than `keptMs` go. */
  const retention = (keptMs: number): RetentionRule => ({
    name: 'audit log',
    deleteSlice: (now, limit) => removeBefore.all({ before: now - keptMs, limit }).length,
  })

  return { record, retention }
}
