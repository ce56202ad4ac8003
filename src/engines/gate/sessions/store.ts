import { and, desc, eq, sql } from 'drizzle-orm'
import { compile } from '../../../db/compile.ts'
import type { Db } from '../../../db/open.ts'
import { rowOf } from '../../../db/placeholders.ts'
import { gateAddresses, gateIdentities, gateSessions as sessions } from '../schema.ts'

export type SessionRow = typeof sessions.$inferSelect
type NewSessionRow = Omit<SessionRow, 'seq' | 'revokedAt' | 'lastSeenAt'>

/** A session and its identity, as SQLite returns them: the data of a whoami response. */
export interface SessionWithIdentity {
  id: string
  tenant_id: string
  generation: number
  assurance_level: SessionRow['assuranceLevel']
  methods: string
  authenticated_at: number
  issued_at: number
  expires_at: number
  revoked_at: number | null
  last_seen_at: number | null
  ip_address: string | null
  user_agent: string | null
  identity_id: string
  schema_id: string
  state: 'active' | 'inactive'
  state_changed_at: number
  email: string
  traits: string
  metadata_public: string
  session_generation: number
  created_at: number
  updated_at: number
  address_id: string
  address_status: 'pending' | 'sent' | 'completed'
  verified_at: number | null
  address_created_at: number
  address_updated_at: number
}

export function createSessionStore({ orm, client }: Db) {
  const $ = sql.placeholder
  const ofIdentity = and(
    eq(sessions.tenantId, $('tenantId')),
    eq(sessions.identityId, $('identityId')),
    eq(sessions.generation, $('generation')),
  )
  const insert = orm.insert(sessions).values(rowOf(sessions)).prepare()
  const withIdentity = () =>
    orm
      .select({
        id: sessions.id,
        tenantId: sessions.tenantId,
        generation: sessions.generation,
        assuranceLevel: sessions.assuranceLevel,
        methods: sessions.methods,
        authenticatedAt: sessions.authenticatedAt,
        issuedAt: sessions.issuedAt,
        expiresAt: sessions.expiresAt,
        revokedAt: sessions.revokedAt,
        lastSeenAt: sessions.lastSeenAt,
        ipAddress: sessions.ipAddress,
        userAgent: sessions.userAgent,
        identityId: sessions.identityId,
        schemaId: gateIdentities.schemaId,
        state: gateIdentities.state,
        stateChangedAt: gateIdentities.stateChangedAt,
        email: gateIdentities.email,
        traits: gateIdentities.traits,
        metadataPublic: gateIdentities.metadataPublic,
        sessionGeneration: gateIdentities.sessionGeneration,
        createdAt: gateIdentities.createdAt,
        updatedAt: gateIdentities.updatedAt,
        addressId: sql`${gateAddresses.id} as address_id`,
        addressStatus: sql`${gateAddresses.status} as address_status`,
        verifiedAt: gateAddresses.verifiedAt,
        addressCreatedAt: sql`${gateAddresses.createdAt} as address_created_at`,
        addressUpdatedAt: sql`${gateAddresses.updatedAt} as address_updated_at`,
      })
      .from(sessions)
      .innerJoin(gateIdentities, eq(gateIdentities.id, sessions.identityId))
      .innerJoin(gateAddresses, eq(gateAddresses.identityId, sessions.identityId))
  const byToken = compile<SessionWithIdentity>(
    client,
    withIdentity().where(eq(sessions.tokenHash, $('hash'))),
  )
  const byId = compile<SessionWithIdentity>(
    client,
    withIdentity().where(and(eq(sessions.tenantId, $('tenantId')), eq(sessions.id, $('id')))),
  )
  const mine = and(eq(sessions.tenantId, $('tenantId')), eq(sessions.id, $('id')))
  const setProof = orm
    .update(sessions)
    .set({
      assuranceLevel: sql`${$('assuranceLevel')}`,
      methods: sql`${$('methods')}`,
      authenticatedAt: sql`${$('authenticatedAt')}`,
    })
    .where(mine)
    .prepare()
  const setToken = orm
    .update(sessions)
    .set({ tokenHash: sql`${$('tokenHash')}` })
    .where(mine)
    .prepare()
  const setSeen = orm
    .update(sessions)
    .set({ lastSeenAt: sql`${$('now')}` })
    .where(mine)
    .prepare()
  const setGeneration = orm
    .update(sessions)
    .set({ generation: sql`${$('generation')}` })
    .where(mine)
    .prepare()
  const find = orm
    .select()
    .from(sessions)
    .where(eq(sessions.id, $('id')))
    .prepare()
  const live = orm
    .select()
    .from(sessions)
    .where(
      and(ofIdentity, sql`${sessions.revokedAt} is null`, sql`${sessions.expiresAt} > ${$('now')}`),
    )
    .orderBy(desc(sessions.seq))
    .limit($('limit'))
    .prepare()
  const recent = orm
    .select()
    .from(sessions)
    .where(and(eq(sessions.tenantId, $('tenantId')), eq(sessions.identityId, $('identityId'))))
    .orderBy(desc(sessions.generation), desc(sessions.seq))
    .limit($('limit'))
    .prepare()
  const revoke = orm
    .update(sessions)
    .set({ revokedAt: sql`${$('now')}` })
    .where(
      and(
        eq(sessions.tenantId, $('tenantId')),
        eq(sessions.id, $('id')),
        sql`${sessions.revokedAt} is null`,
      ),
    )
    .prepare()
  const removeBeyond = orm
    .delete(sessions)
    .where(
      sql`seq in (select seq from gate_sessions where tenant_id = ${$('tenantId')}
        and identity_id = ${$('identityId')} order by generation desc, seq desc limit -1 offset ${$('kept')})`,
    )
    .prepare()
  const removeExpired = orm
    .delete(sessions)
    .where(
      sql`seq in (select seq from gate_sessions where expires_at < ${$('before')}
        order by expires_at limit ${$('limit')})`,
    )
    .returning({ seq: sessions.seq })
    .prepare()

  return {
    insert: (row: NewSessionRow) => void insert.run({ ...row, revokedAt: null, lastSeenAt: null }),
    byToken: (hash: string): SessionWithIdentity | undefined => byToken.get({ hash }),
    byId: (tenantId: string, id: string): SessionWithIdentity | undefined =>
      byId.get({ tenantId, id }),
    /** Updates the authentication methods and level. */
    setProof: (
      tenantId: string,
      id: string,
      proof: Pick<SessionRow, 'assuranceLevel' | 'methods' | 'authenticatedAt'>,
    ) => void setProof.run({ tenantId, id, ...proof }),
    /** Replaces the token; the previous one becomes invalid. */
    setToken: (tenantId: string, id: string, tokenHash: string) =>
      void setToken.run({ tenantId, id, tokenHash }),
    setSeen: (tenantId: string, id: string, now: number) => void setSeen.run({ tenantId, id, now }),
    /** Keeps a session active while the others of its identity end. */
    setGeneration: (tenantId: string, id: string, generation: number) =>
      void setGeneration.run({ tenantId, id, generation }),
    /** Of any tenant. */
    find: (id: string): SessionRow | undefined => find.get({ id }),
    /** Newest first. */
    live: (
      tenantId: string,
      identityId: string,
      { generation, now, limit }: { generation: number; now: number; limit: number },
    ): SessionRow[] => live.all({ tenantId, identityId, generation, now, limit }),
    /** Newest first, including ended sessions. */
    recent: (tenantId: string, identityId: string, limit: number): SessionRow[] =>
      recent.all({ tenantId, identityId, limit }),
    revoke: (tenantId: string, id: string, now: number) => void revoke.run({ tenantId, id, now }),
    /** Deletes all sessions of an identity except for the newest, including ended ones. */
    removeBeyond: (tenantId: string, identityId: string, kept: number) =>
      void removeBeyond.run({ tenantId, identityId, kept }),
    removeExpired: (before: number, limit: number): number =>
      removeExpired.all({ before, limit }).length,
  }
}
