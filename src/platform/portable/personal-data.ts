import { and, desc, eq, isNull, or } from 'drizzle-orm'
import { isoOrNull, isoTime } from '../clock.ts'
import { auditLog, mails } from '../schema.ts'
import type { Snapshot } from './snapshot.ts'

/**
 * Mails about somebody, and those about nobody that were to go to their address: that they were
 * written, not what they said, which may be a code.
 */
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
 * What the audit log has about somebody, under any of the names that they have in it, and what they
 * did themselves. Where another one acted from is data of that one.
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
