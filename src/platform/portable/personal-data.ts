import { and, desc, eq, isNull, or } from 'drizzle-orm'
import { isoOrNull, isoTime } from '../clock.ts'
import { auditLog, mails } from '../schema.ts'
import type { Snapshot } from './snapshot.ts'

/** Includes mails to the address about no identity. No subjects or bodies, which may hold codes. */
export const mailsAbout = ({ orm }: Snapshot, tenantId: string, about: string, address: string) =>
  orm
    .select({
      id: mails.id,
      kind: mails.kind,
      recipient: mails.recipient,
      state: mails.state,
      createdAt: mails.createdAt,
      endedAt: mails.endedAt,
    })
    .from(mails)
    .where(and(eq(mails.tenantId, tenantId), or(eq(mails.about, about), isTo(address))))
    .orderBy(desc(mails.seq))
    .all()
    .map(({ createdAt, endedAt, ...mail }) => ({
      ...mail,
      created_at: isoTime(createdAt),
      ended_at: isoOrNull(endedAt),
    }))

const isTo = (address: string) => and(isNull(mails.about), eq(mails.recipient, address))

/**
 * Entries about a person, under all their object names, and of their own actions. Only the latter
 * include client addresses, because other people's addresses are personal data.
 */
export const auditOf = (
  { orm }: Snapshot,
  tenantId: string,
  { id, objects }: { id: string; objects: string[] },
) =>
  orm
    .select()
    .from(auditLog)
    .where(
      and(
        eq(auditLog.tenantId, tenantId),
        or(isBy(id), ...objects.map((object) => eq(auditLog.object, object))),
      ),
    )
    .orderBy(desc(auditLog.seq))
    .all()
    .map(({ at, actorKind, actorId, action, object, source, detail }) => ({
      at: isoTime(at),
      action,
      object,
      by: actorKind,
      ...(actorKind === 'person' && actorId === id && { from: source }),
      detail: JSON.parse(detail),
    }))

const isBy = (id: string) => and(eq(auditLog.actorKind, 'person'), eq(auditLog.actorId, id))
