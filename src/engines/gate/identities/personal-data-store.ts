import { and, desc, eq, inArray, isNull, ne, notExists, or, type SQL, sql } from 'drizzle-orm'
import { isoOrNull, isoTime } from '../../../platform/clock.ts'
import type { Snapshot } from '../../../platform/portable/snapshot.ts'
import { HEAD } from '../credentials/store.ts'
import {
  gateAccessTokens,
  gateAddresses,
  gateCodes,
  gateCredentials,
  gateDecisions,
  gateFlows,
  gateIdentities,
  gateSessions,
  gateSignIns,
  gateSocialLinks,
} from '../schema.ts'
import type { SocialLinkRow } from '../sign-in/social/links-store.ts'
import { metadataOf, presentCredentials, traitsOf } from './present.ts'
import type { IdentityRow } from './store.ts'

/** The stored data about an identity, without secrets; undefined if there is none. */
export function personalData({ orm }: Snapshot, tenantId: string, id: string) {
  const mine = and(eq(gateIdentities.tenantId, tenantId), eq(gateIdentities.id, id))
  const row = orm.select().from(gateIdentities).where(mine).get()
  if (!row) return undefined
  return {
    identity: {
      id,
      schema_id: row.schemaId,
      state: row.state,
      state_changed_at: isoTime(row.stateChangedAt),
      traits: traitsOf(row),
      metadata_public: metadataOf(row),
      created_at: isoTime(row.createdAt),
      updated_at: isoTime(row.updatedAt),
    },
    addresses: addressesOf(orm, id),
    credentials: credentialsOf(orm, row),
    sessions: sessionsOf(orm, row),
    sign_ins: signInsOf(orm, id),
    flows: flowsOf(orm, row),
    access_tokens: accessTokensOf(orm, tenantId, id),
    decisions: decisionsOf(orm, tenantId, id),
  }
}

type Orm = Snapshot['orm']

const signInsOf = (orm: Orm, id: string) =>
  orm
    .select()
    .from(gateSignIns)
    .where(eq(gateSignIns.identityId, id))
    .orderBy(gateSignIns.seq)
    .all()
    .map(({ at, isSuccess, method, provider, ipAddress, userAgent }) => ({
      at: isoTime(at),
      is_success: isSuccess,
      method,
      provider,
      ip_address: ipAddress,
      user_agent: userAgent,
    }))

const addressesOf = (orm: Orm, id: string) =>
  orm
    .select()
    .from(gateAddresses)
    .where(eq(gateAddresses.identityId, id))
    .all()
    .map(({ value, status, verifiedAt, createdAt, updatedAt }) => ({
      value,
      status,
      verified_at: isoOrNull(verifiedAt),
      created_at: isoTime(createdAt),
      updated_at: isoTime(updatedAt),
    }))

/** Includes social accounts, as `oidc`. */
const credentialsOf = (orm: Orm, person: IdentityRow) =>
  presentCredentials(
    person,
    orm.select(HEAD).from(gateCredentials).where(eq(gateCredentials.identityId, person.id)).all(),
    orm
      .select()
      .from(gateSocialLinks)
      .where(eq(gateSocialLinks.identityId, person.id))
      .all() as SocialLinkRow[],
  )

const sessionsOf = (orm: Orm, { id, sessionGeneration }: IdentityRow) =>
  orm
    .select()
    .from(gateSessions)
    .where(eq(gateSessions.identityId, id))
    .orderBy(desc(gateSessions.seq))
    .all()
    .map((session) => ({
      id: session.id,
      is_ended: session.revokedAt !== null || session.generation < sessionGeneration,
      assurance_level: session.assuranceLevel,
      methods: JSON.parse(session.methods),
      ip_address: session.ipAddress,
      user_agent: session.userAgent,
      issued_at: isoTime(session.issuedAt),
      authenticated_at: isoTime(session.authenticatedAt),
      expires_at: isoTime(session.expiresAt),
      revoked_at: isoOrNull(session.revokedAt),
    }))

const flowsOf = (orm: Orm, person: IdentityRow) =>
  orm
    .select()
    .from(gateFlows)
    .where(
      or(
        eq(gateFlows.identityId, person.id),
        inArray(gateFlows.id, flowsWithCodeOf(orm, person)),
        isByAddress(orm, person),
      ),
    )
    .all()
    .map(({ id: flow, kind, state, address, issuedAt, expiresAt }) => ({
      id: flow,
      kind,
      state,
      address,
      issued_at: isoTime(issuedAt),
      expires_at: isoTime(expiresAt),
    }))

const flowsWithCodeOf = (orm: Orm, { id }: IdentityRow) =>
  orm.select({ id: gateCodes.flowId }).from(gateCodes).where(eq(gateCodes.identityId, id))

/**
 * Flows without an identity belong to the owner of their address when they started or completed; a
 * registration belongs to the identity it created.
 */
function isByAddress(orm: Orm, { tenantId, id, email }: IdentityRow): SQL | undefined {
  const since = orm
    .select({ createdAt: gateAddresses.createdAt })
    .from(gateAddresses)
    .where(and(eq(gateAddresses.identityId, id), eq(gateAddresses.value, email)))
  const codeOfAnother = orm
    .select({ id: gateCodes.id })
    .from(gateCodes)
    .where(and(eq(gateCodes.flowId, gateFlows.id), ne(gateCodes.identityId, id)))
  return and(
    eq(gateFlows.tenantId, tenantId),
    eq(gateFlows.address, email),
    isNull(gateFlows.identityId),
    sql`coalesce(${gateFlows.completedAt}, ${gateFlows.issuedAt}) >= ${since}`,
    notExists(codeOfAnother),
  )
}

const accessTokensOf = (orm: Orm, tenantId: string, subject: string) =>
  orm
    .select()
    .from(gateAccessTokens)
    .where(and(eq(gateAccessTokens.tenantId, tenantId), eq(gateAccessTokens.subject, subject)))
    .orderBy(desc(gateAccessTokens.seq))
    .all()
    .map(({ environment, scopes, issuedAt, expiresAt, revokedAt }) => ({
      environment,
      scopes: JSON.parse(scopes),
      issued_at: isoTime(issuedAt),
      expires_at: isoTime(expiresAt),
      revoked_at: isoOrNull(revokedAt),
    }))

const decisionsOf = (orm: Orm, tenantId: string, subject: string) =>
  orm
    .select()
    .from(gateDecisions)
    .where(and(eq(gateDecisions.tenantId, tenantId), eq(gateDecisions.subject, subject)))
    .orderBy(desc(gateDecisions.seq))
    .all()
    .map(({ id, at, environment, action, resource, context, isAllowed, reason }) => ({
      id,
      at: isoTime(at),
      environment,
      action,
      resource,
      context: JSON.parse(context),
      is_allowed: isAllowed,
      reason,
    }))
