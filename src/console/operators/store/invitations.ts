import { and, asc, eq, inArray, lt, sql } from 'drizzle-orm'
import type { Db } from '../../../db/open.ts'
import { consoleInvitations } from '../schema.ts'

export type InvitationRow = typeof consoleInvitations.$inferSelect

/** Pending invitations. */
export function createInvitationStore({ orm }: Db) {
  const $ = sql.placeholder
  const invitation = orm
    .select()
    .from(consoleInvitations)
    .where(eq(consoleInvitations.tokenHash, $('tokenHash')))
    .prepare()
  const invitations = orm
    .select()
    .from(consoleInvitations)
    .where(eq(consoleInvitations.tenantId, $('tenantId')))
    .orderBy(asc(consoleInvitations.createdAt))
    .prepare()
  const removeInvitation = orm
    .delete(consoleInvitations)
    .where(and(eq(consoleInvitations.tenantId, $('tenantId')), eq(consoleInvitations.id, $('id'))))
    .returning()
    .prepare()
  const removeExpired = orm
    .delete(consoleInvitations)
    .where(
      inArray(
        consoleInvitations.id,
        orm
          .select({ key: consoleInvitations.id })
          .from(consoleInvitations)
          .where(lt(consoleInvitations.expiresAt, $('now')))
          .limit($('limit')),
      ),
    )
    .returning({ key: consoleInvitations.id })
    .prepare()

  return {
    invitation: (tokenHash: string): InvitationRow | undefined => invitation.get({ tokenHash }),
    invitations: (tenantId: string): InvitationRow[] => invitations.all({ tenantId }),
    /** Replaces an earlier invitation to the same address. */
    putInvitation: (row: InvitationRow) =>
      void orm
        .insert(consoleInvitations)
        .values(row)
        .onConflictDoUpdate({
          target: [consoleInvitations.tenantId, consoleInvitations.email],
          set: row,
        })
        .run(),
    removeInvitation: (tenantId: string, id: string): InvitationRow | undefined =>
      removeInvitation.get({ tenantId, id }),
    /** Returns the number of removed rows, at most `limit`. */
    removeExpiredInvitations: (now: number, limit: number): number =>
      removeExpired.all({ now, limit }).length,
  }
}
