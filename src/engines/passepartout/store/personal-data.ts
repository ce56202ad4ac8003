import { and, desc, eq, or } from 'drizzle-orm'
import { isoOrNull, isoTime } from '../../../platform/clock.ts'
import type { Snapshot } from '../../../platform/portable/snapshot.ts'
import {
  passepartoutAttempts as attempts,
  passepartoutBots,
  passepartoutPeople,
  passepartoutTokens,
} from '../schema.ts'
import type { PersonRow } from './people.ts'

/** The stored data about a user; undefined if there is none. */
export function personalData({ orm }: Snapshot, tenantId: string, id: string) {
  const mine = and(eq(passepartoutPeople.tenantId, tenantId), eq(passepartoutPeople.id, id))
  const row = orm.select().from(passepartoutPeople).where(mine).get()
  if (!row) return undefined
  return {
    person: {
      id,
      platform: row.platform,
      platform_user_id: row.platformUserId,
      username: row.username,
      first_name: row.firstName,
      last_name: row.lastName,
      language_code: row.languageCode,
      created_at: isoTime(row.createdAt),
      updated_at: isoTime(row.updatedAt),
    },
    sign_ins: signInsOf(orm, row),
    access_tokens: tokensOf(orm, tenantId, id),
  }
}

/** Sign-ins completed or opened by the account; client data only of those it completed. */
const signInsOf = (orm: Snapshot['orm'], { tenantId, id, platform, platformUserId }: PersonRow) =>
  orm
    .select()
    .from(attempts)
    .innerJoin(passepartoutBots, eq(passepartoutBots.id, attempts.botId))
    .where(
      and(
        eq(attempts.tenantId, tenantId),
        or(
          eq(attempts.personId, id),
          and(eq(attempts.openerId, platformUserId), eq(passepartoutBots.platform, platform)),
        ),
      ),
    )
    .orderBy(desc(attempts.seq))
    .all()
    .map(({ passepartout_attempts: attempt }) => ({
      id: attempt.id,
      environment: attempt.environment,
      state: attempt.state,
      ...(attempt.personId === id && {
        client_ip: attempt.clientIp,
        client_user_agent: attempt.clientUserAgent,
        client_label: attempt.clientLabel,
      }),
      created_at: isoTime(attempt.createdAt),
      ended_at: isoOrNull(attempt.endedAt),
    }))

const tokensOf = (orm: Snapshot['orm'], tenantId: string, personId: string) =>
  orm
    .select()
    .from(passepartoutTokens)
    .where(
      and(eq(passepartoutTokens.tenantId, tenantId), eq(passepartoutTokens.personId, personId)),
    )
    .orderBy(desc(passepartoutTokens.seq))
    .all()
    .map(({ environment, issuedAt, expiresAt, revokedAt }) => ({
      environment,
      issued_at: isoTime(issuedAt),
      expires_at: isoTime(expiresAt),
      revoked_at: isoOrNull(revokedAt),
    }))
