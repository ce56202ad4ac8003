import { and, asc, eq, isNull, ne, sql } from 'drizzle-orm'
import type { Db } from '../../../db/open.ts'
import { rowOf } from '../../../db/placeholders.ts'
import { gateAddresses, gateIdentities } from '../../../engines/gate/schema.ts'
import { tenants } from '../../../platform/schema.ts'
import type { Grantee } from '../grantee.ts'
import type { Role } from '../rights.ts'
import { consoleMemberships } from '../schema.ts'

/** A member of a tenant. */
export interface MemberRow {
  id: string
  email: string
  traits: string
  isVerified: boolean
  role: Role
  createdAt: number
}

/** A tenant of an operator. */
export interface MembershipRow {
  tenantId: string
  tenantName: string
  role: Role
  createdAt: number
}

/** Memberships of operators in tenants. */
export function createMembershipStore({ orm }: Db) {
  const $ = sql.placeholder
  const ofOperator = eq(consoleMemberships.operatorId, $('operatorId'))
  const ofTenant = eq(consoleMemberships.tenantId, $('tenantId'))
  const put = orm
    .insert(consoleMemberships)
    .values({ ...rowOf(consoleMemberships, 'createdAt'), createdAt: $('now') })
    .onConflictDoUpdate({
      target: [consoleMemberships.operatorId, consoleMemberships.tenantId],
      set: { role: sql`excluded.role` },
    })
    .prepare()
  const lower = orm
    .update(consoleMemberships)
    .set({ role: sql`${$('role')}` })
    .where(and(ofOperator, ofTenant))
    .prepare()
  const remove = orm.delete(consoleMemberships).where(and(ofOperator, ofTenant)).prepare()
  const roleIn = orm
    .select({ role: consoleMemberships.role })
    .from(consoleMemberships)
    .where(and(ofOperator, ofTenant))
    .prepare()
  const ofPerson = orm
    .select({
      tenantId: consoleMemberships.tenantId,
      tenantName: tenants.name,
      role: consoleMemberships.role,
      createdAt: consoleMemberships.createdAt,
    })
    .from(consoleMemberships)
    .innerJoin(tenants, eq(tenants.id, consoleMemberships.tenantId))
    .where(and(ofOperator, isNull(tenants.deletionStartedAt)))
    .orderBy(asc(tenants.name), asc(tenants.id))
    .prepare()
  const members = orm
    .select({
      id: gateIdentities.id,
      email: gateIdentities.email,
      traits: gateIdentities.traits,
      isVerified: sql<boolean>`${gateAddresses.verifiedAt} is not null`.mapWith(Boolean),
      role: consoleMemberships.role,
      createdAt: consoleMemberships.createdAt,
    })
    .from(consoleMemberships)
    .innerJoin(gateIdentities, eq(gateIdentities.id, consoleMemberships.operatorId))
    .leftJoin(gateAddresses, eq(gateAddresses.identityId, gateIdentities.id))
    .where(ofTenant)
    .orderBy(asc(consoleMemberships.createdAt), asc(gateIdentities.id))
    .prepare()
  const otherOwner = orm
    .select({ id: consoleMemberships.operatorId })
    .from(consoleMemberships)
    .innerJoin(gateIdentities, eq(gateIdentities.id, consoleMemberships.operatorId))
    .where(
      and(
        ofTenant,
        eq(consoleMemberships.role, 'owner'),
        ne(consoleMemberships.operatorId, $('operatorId')),
        eq(gateIdentities.state, 'active'),
      ),
    )
    .limit(1)
    .prepare()

  return {
    roleIn: (tenantId: string, operatorId: string): Role | undefined =>
      roleIn.get({ tenantId, operatorId })?.role,
    /** Memberships of an operator, ordered by tenant name. */
    membershipsOf: (operatorId: string): MembershipRow[] => ofPerson.all({ operatorId }),
    /** Members of a tenant in the order of joining. */
    members: (tenantId: string): MemberRow[] => members.all({ tenantId }),
    /** Whether the tenant has another owner who can sign in. */
    hasOtherOwner: (tenantId: string, operatorId: string): boolean =>
      otherOwner.get({ tenantId, operatorId }) !== undefined,
    put: (tenantId: string, operatorId: Grantee, role: Role, now: number) =>
      void put.run({ tenantId, operatorId, role, now }),
    /** Sets a lower role, which needs no grantee. */
    lower: (tenantId: string, operatorId: string, role: Role) =>
      void lower.run({ tenantId, operatorId, role }),
    remove: (tenantId: string, operatorId: string) => void remove.run({ tenantId, operatorId }),
  }
}
